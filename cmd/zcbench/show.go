package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/render"
)

func show(cmd *cobra.Command, results []*record.Result, worst error) error {
	for _, r := range results {
		rep, err := analyze.Analyze(r)
		if err != nil {
			return err
		}
		sc := rep.Scenarios[0]
		fmt.Println(sc.Headline)
		for _, c := range sc.Points[0].Cases {
			fmt.Printf("%-28s", c.Name)
			for _, m := range sc.Columns {
				cell := c.Cells[m]
				fmt.Printf(" %s=%.4g", m, cell.Median)
				if cell.Effect != nil {
					fmt.Printf("(%.3g %.3g-%.3g)", cell.Effect.Estimate, cell.Effect.Lo, cell.Effect.Hi)
				}
			}
			fmt.Println(c.Marks)
		}
		for _, c := range sc.Claims {
			fmt.Printf("%+v\n", c)
		}
		for _, w := range sc.Warnings {
			fmt.Println(w)
		}
		dir := filepath.Dir(r.Path)
		if _, err := render.WritePNGs(dir, rep); err != nil {
			return err
		}
		f, err := os.Create(filepath.Join(dir, "report.html"))
		if err != nil {
			return err
		}
		if err := render.HTML(f, rep, render.HTMLOptions{}); err != nil {
			return err
		}
		f.Close()
	}
	return worst
}

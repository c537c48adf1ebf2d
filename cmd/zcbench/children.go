package main

import (
	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/harness"
)

// newTrial is the process of one trial; zcbench starts it itself.
func newTrial() *cobra.Command {
	return &cobra.Command{
		Use: harness.TrialCommand + " ID", Hidden: true, Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return asFailed(harness.TrialChild(cmd.InOrStdin(), registry()))
		},
	}
}

// newAdapter becomes the program of an adapter; zcbench starts it itself.
func newAdapter() *cobra.Command {
	return &cobra.Command{
		Use: harness.AdapterCommand + " BYTES PROGRAM ARGUMENT...", Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error { return asFailed(harness.AdapterChild(args)) },
	}
}

// newGenerate is the process of a load generator.
func newGenerate() *cobra.Command {
	return &cobra.Command{
		Use: harness.GenerateCommand + " ID", Hidden: true, Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return asFailed(harness.GeneratorChild(cmd.InOrStdin()))
		},
	}
}

func asFailed(err error) error {
	if err == nil {
		return nil
	}
	return coded{exitFailed, err}
}

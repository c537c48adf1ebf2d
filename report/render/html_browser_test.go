package render

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

// shotsEnv names a directory; when set, the tests leave pictures of what they
// drew there, to be looked at.
const shotsEnv = "ZCBENCH_SHOTS"

// startBrowser starts a headless Chromium, or skips when there is none.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("no chromium or google-chrome in PATH: install one to test the page in a browser")
	}
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true))
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // its sandbox refuses root
	}
	ctx, stop := context.WithTimeout(context.Background(), 4*time.Minute)
	t.Cleanup(stop)
	alloc, end := chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(end)
	browser, closeAll := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		if err := chromedp.Cancel(browser); err != nil {
			t.Logf("closing the browser: %v", err)
		}
		closeAll()
	})
	if err := chromedp.Do(browser, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return browser
}

// tab is an open page and what it said and asked for.
type tab struct {
	ctx      context.Context
	mu       sync.Mutex
	console  []string
	requests []string
}

func (p *tab) listen(ev any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		p.console = append(p.console, fmt.Sprint("console.", e.Type, " ", len(e.Args)))
	case *runtime.EventExceptionThrown:
		p.console = append(p.console, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		p.console = append(p.console, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	}
}

// open loads a page file at a width, light or dark.
func open(t *testing.T, browser context.Context, path string, width int64, dark bool) *tab {
	t.Helper()
	ctx, done := chromedp.NewContext(browser)
	t.Cleanup(done)
	p := &tab{ctx: ctx}
	if err := chromedp.Listen(ctx, p.listen); err != nil {
		t.Fatal(err)
	}
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if err != nil {
		t.Fatal(err)
	}
	u := url.URL{Scheme: "file", Path: path}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate(u.String())); err != nil {
		t.Fatal(err)
	}
	return p
}

func eval[T any](t *testing.T, p *tab, js string) T {
	t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](js))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}

func (p *tab) quiet(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.console) > 0 {
		t.Errorf("the console says %q", p.console)
	}
	for i, u := range p.requests {
		if !strings.HasPrefix(u, "data:") && (i > 0 || !strings.HasPrefix(u, "file:")) {
			t.Errorf("the page asks for %s", u)
		}
	}
}

func (p *tab) shot(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv(shotsEnv)
	if dir == "" {
		return
	}
	for suffix, take := range map[string]chromedp.Action[[]byte]{"": chromedp.CaptureScreenshot(), "-full": chromedp.FullScreenshot(100)} {
		b, err := chromedp.Run(p.ctx, take)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+suffix+".png"), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func savePage(t *testing.T, r *analyze.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// collisions finds texts of plots that cover each other or leave their plot.
const collisions = `(() => {
  const out = [];
  for (const svg of document.querySelectorAll("svg.plot")) {
    const f = svg.getBoundingClientRect();
    if (!f.width) continue;
    const ts = [...svg.querySelectorAll("text")].map((t) => ({ s: t.textContent, b: t.getBoundingClientRect() }));
    ts.forEach(({ s, b }, i) => {
      if (b.left < f.left - 1 || b.right > f.right + 1 || b.top < f.top - 1 || b.bottom > f.bottom + 1) out.push("outside: " + s);
      for (const o of ts.slice(i + 1)) {
        const w = Math.min(b.right, o.b.right) - Math.max(b.left, o.b.left);
        const h = Math.min(b.bottom, o.b.bottom) - Math.max(b.top, o.b.top);
        if (w > 1 && h > 0.3 * Math.min(b.height, o.b.height)) out.push(s + " | " + o.s);
      }
    });
  }
  return out;
})()`

func TestPageInBrowser(t *testing.T) {
	browser := startBrowser(t)
	pages := map[string]string{
		"one": savePage(t, reportOf(t, fixture.Result())), "sweep": savePage(t, reportOf(t, fixture.Sweep())),
		"hostile": savePage(t, withHostileNames(t)), "bare": savePage(t, degenerate(t)["nothing measured"]),
	}
	for name, path := range pages {
		for _, width := range []int64{400, 1400, 2000} {
			for _, dark := range []bool{false, true} {
				if width == 1400 && os.Getenv(shotsEnv) == "" {
					continue // for the eye only
				}
				id := fmt.Sprintf("%s-%d-dark=%v", name, width, dark)
				t.Run(id, func(t *testing.T) {
					p := open(t, browser, path, width, dark)
					p.shot(t, id)
					if w := eval[float64](t, p, `document.documentElement.scrollWidth`); w > float64(width) {
						t.Errorf("the page is %g px wide in a window of %d: it scrolls sideways", w, width)
					}
					if c := eval[[]string](t, p, collisions); len(c) > 0 {
						t.Errorf("texts of plots collide: %q", c)
					}
					if eval[bool](t, p, `"pwned" in window`) {
						t.Error("text from a file ran as a script")
					}
					checkContrast(t, p, dark)
					p.quiet(t)
				})
			}
		}
	}
}

// checkContrast wants text of the page and of the plots to stand out from
// their ground, which must be dark if the reader asked for that.
func checkContrast(t *testing.T, p *tab, dark bool) {
	t.Helper()
	got := eval[[]float64](t, p, `(() => {
	  const lum = (c) => c.match(/\d+(\.\d+)?/g).slice(0, 3).map((v) => v / 255)
	    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
	  const ground = lum(getComputedStyle(document.body).backgroundColor);
	  const ratio = (l) => (Math.max(l, ground) + 0.05) / (Math.min(l, ground) + 0.05);
	  const inks = [...document.querySelectorAll("svg.plot text")].map((t) => ratio(lum(getComputedStyle(t).fill)));
	  return [ground, ratio(lum(getComputedStyle(document.body).color)), Math.min(...inks), inks.length];
	})()`)
	if (got[0] < 0.2) != dark {
		t.Errorf("luminance of the ground is %.2f, dark asked for: %v", got[0], dark)
	}
	if got[1] < 7 || got[2] < 4.5 || got[3] == 0 {
		t.Errorf("contrast of the text is %.1f, of the %g labels in plots at least %.1f; want 7 and 4.5", got[1], got[3], got[2])
	}
}

func TestTableSortsByMouseAndKeyboard(t *testing.T) {
	p := open(t, startBrowser(t), savePage(t, reportOf(t, fixture.Result())), 1400, false)
	read := func() []float64 {
		return eval[[]float64](t, p, `[...document.querySelectorAll("table.sortable tbody tr")].map((r) => Number(r.cells[2].dataset.sort))`)
	}
	before := read()
	button := chromedp.CSS("table.sortable thead th:nth-child(3) button")
	if err := chromedp.Do(p.ctx, chromedp.Click(button)); err != nil {
		t.Fatal(err)
	}
	up := read()
	if len(up) < 3 || !slices.IsSorted(up) || slices.Equal(up, before) {
		t.Errorf("a click on the head gives %v, from %v; want them rising", up, before)
	}
	if err := chromedp.Do(p.ctx, chromedp.Focus(button), chromedp.KeyEvent(kb.Enter)); err != nil {
		t.Fatal(err)
	}
	down := read()
	slices.Reverse(down)
	if !slices.Equal(down, up) {
		t.Errorf("Enter on the head gives %v reversed; want %v", down, up)
	}
	if s := eval[string](t, p, `document.querySelector("th[aria-sort]").getAttribute("aria-sort")`); s != "descending" {
		t.Errorf("aria-sort is %q", s)
	}
	p.quiet(t)
}

func TestHoverTellsTheValue(t *testing.T) {
	p := open(t, startBrowser(t), savePage(t, reportOf(t, fixture.Result())), 1400, false)
	at := eval[[]float64](t, p, `(() => { const s = [...document.querySelectorAll(".lead .wide .hot")].at(-1);
	  const b = s.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()`)
	if err := chromedp.Do(p.ctx, chromedp.MouseEvent("mouseMoved", at[0], at[1])); err != nil {
		t.Fatal(err)
	}
	tip := eval[string](t, p, `(() => { const t = document.getElementById("tip"); return t.hidden ? "" : t.textContent; })()`)
	if !strings.Contains(tip, "pages after") {
		t.Errorf("hovering a point of the residency plot shows %q", tip)
	}
	p.quiet(t)
}

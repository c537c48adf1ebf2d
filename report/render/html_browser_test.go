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
		"hostile": savePage(t, withHostileNames(t)), "combined": savePage(t, combined(t)), "bare": savePage(t, degenerate(t)["nothing measured"]),
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

// contrasts computes for every text that shows how it stands out from what is
// behind it: the nearest ground among its ancestors, of a label in a plot that
// of the page. It returns the luminance of the page, the number of texts of the
// page and of the plots, and those below 4.5:1.
const contrasts = `(() => {
  const rgba = (c) => c.match(/[\d.]+/g).map(Number);
  const lum = (c) => rgba(c).slice(0, 3).map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      if ((rgba(c)[3] ?? 1) > 0) return c;
    }
    return "rgb(255, 255, 255)";
  };
  const out = { page: lum(getComputedStyle(document.body).backgroundColor), texts: 0, labels: 0, poor: [] };
  for (const e of document.querySelectorAll("body *")) {
    if (e.closest("script") || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length) continue;
    const label = e.closest("svg"), style = getComputedStyle(e);
    const a = lum(label ? style.fill : style.color), b = lum(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    label ? out.labels++ : out.texts++;
    if (ratio < 4.5) out.poor.push(ratio.toFixed(1) + ": " + e.tagName + "." + e.className + " " + e.textContent.slice(0, 40));
  }
  return out;
})()`

// checkContrast wants every text to stand out from its ground, and the ground of
// the page to be dark if the reader asked for that.
func checkContrast(t *testing.T, p *tab, dark bool) {
	t.Helper()
	got := eval[struct {
		Page          float64
		Texts, Labels int
		Poor          []string
	}](t, p, contrasts)
	if (got.Page < 0.2) != dark {
		t.Errorf("luminance of the ground is %.2f, dark asked for: %v", got.Page, dark)
	}
	if len(got.Poor) > 0 || got.Texts < 20 || got.Labels == 0 {
		t.Errorf("of %d texts and %d labels of plots these stand out too little: %q", got.Texts, got.Labels, got.Poor)
	}
}

func TestTableSortsByMouseAndKeyboard(t *testing.T) {
	p := open(t, startBrowser(t), savePage(t, reportOf(t, fixture.Result())), 1400, false)
	read := func() []float64 {
		return eval[[]float64](t, p, `[...document.querySelectorAll("table.all tbody tr")].map((r) => Number(r.cells[2].dataset.sort))`)
	}
	before := read()
	button := chromedp.CSS("table.all thead th:nth-child(3) button")
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

// tipText is what the page tells at the pointer or the focus.
const tipText = `(() => { const t = document.getElementById("tip"); return t.hidden ? "" : t.textContent; })()`

// middles gives a label and the middle of each plot's first bar or marker that
// tells something.
const middles = `[...document.querySelectorAll("figure svg.plot")].filter((s) => s.getClientRects().length).map((s) => {
  const hot = s.querySelector(".hot");
  if (!hot) return { title: s.getAttribute("aria-label"), says: "", x: 0, y: 0 };
  hot.scrollIntoView({ block: "center" });
  const b = hot.getBoundingClientRect();
  return { title: s.getAttribute("aria-label"), says: hot.getAttribute("aria-label"), x: b.left + b.width / 2 + scrollX, y: b.top + b.height / 2 + scrollY };
})`

func TestEveryPlotTellsItsValues(t *testing.T) {
	r := reportOf(t, fixture.Shared())
	p := open(t, startBrowser(t), savePage(t, r), 1400, false)
	type middle struct {
		Title, Says string
		X, Y        float64
	}
	plots := eval[[]middle](t, p, middles)
	if len(plots) != 8 {
		t.Errorf("%d plots show, want all eight kinds", len(plots))
	}
	for _, m := range plots {
		if m.Says == "" {
			t.Errorf("%s: nothing to point at", m.Title)
			continue
		}
		at := eval[[]float64](t, p, fmt.Sprintf(`(() => { scrollTo(0, %g - 400); return [%g - scrollX, %g - scrollY]; })()`, m.Y, m.X, m.Y))
		if err := chromedp.Do(p.ctx, chromedp.MouseEvent("mouseMoved", 1, 1), chromedp.MouseEvent("mouseMoved", at[0], at[1])); err != nil {
			t.Fatal(err)
		}
		tip := eval[string](t, p, tipText)
		if tip == "" || !strings.ContainsAny(tip, "0123456789") || !strings.Contains(tip, "{group=") {
			t.Errorf("%s: pointing at %q tells %q", m.Title, m.Says, tip)
		}
	}
	p.quiet(t)
}

func TestArrowKeysWalkThroughAPlot(t *testing.T) {
	p := open(t, startBrowser(t), savePage(t, reportOf(t, fixture.Result())), 1400, false)
	if err := chromedp.Do(p.ctx, chromedp.Focus(chromedp.CSS(".lead .wide svg.plot"))); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, key := range []string{kb.ArrowRight, kb.ArrowRight, kb.ArrowLeft} {
		if err := chromedp.Do(p.ctx, chromedp.KeyEvent(key)); err != nil {
			t.Fatal(err)
		}
		told = append(told, eval[string](t, p, tipText))
	}
	if !strings.Contains(told[0], "pages after") || told[1] == told[0] || told[2] != told[0] {
		t.Errorf("right, right, left tell %q", told)
	}
	if err := chromedp.Do(p.ctx, chromedp.KeyEvent(kb.Escape)); err != nil {
		t.Fatal(err)
	}
	if tip := eval[string](t, p, tipText); tip != "" {
		t.Errorf("Escape leaves %q", tip)
	}
	p.quiet(t)
}

func TestVerdictsSort(t *testing.T) {
	p := open(t, startBrowser(t), savePage(t, combined(t)), 1000, true)
	read := func() []float64 {
		return eval[[]float64](t, p, `[...document.querySelectorAll("table.verdicts tbody tr")].map((r) => Number(r.cells[2].dataset.sort))`)
	}
	before := read()
	if err := chromedp.Do(p.ctx, chromedp.Click(chromedp.CSS("table.verdicts thead th:nth-child(3) button"))); err != nil {
		t.Fatal(err)
	}
	if after := read(); !slices.IsSorted(after) || slices.Equal(after, before) || len(after) < 5 {
		t.Errorf("sorting by verdict gives %v, from %v", after, before)
	}
	first := eval[string](t, p, `document.querySelector("table.verdicts .verdict").textContent`)
	if !strings.Contains(first, "Supported") {
		t.Errorf("the first verdict is %q", first)
	}
	p.quiet(t)
}

func TestPageFitsPaper(t *testing.T) {
	p := open(t, startBrowser(t), savePage(t, combined(t)), 760, true)
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print",
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}); err != nil {
		t.Fatal(err)
	}
	p.shot(t, "print")
	checkContrast(t, p, false) // ink on white, whatever the screen prefers
	if w := eval[float64](t, p, `Math.max(...[...document.querySelectorAll("svg.plot, h1, h2, p, table.verdicts")].map((e) => e.getBoundingClientRect().right))`); w > 761 {
		t.Errorf("something reaches %g of 760 px of the paper", w)
	}
}

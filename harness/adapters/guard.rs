//! An adapter of kind rdma-post-recv: receives are built as a safe guard builds
//! them, in real `Vec`s that grow from nothing with every batch and are freed
//! after the post. The post is a stand-in behind an opaque pointer: it reads every
//! request, as a provider must, and hands it to nobody.
//!
//!     rustc -C opt-level=3 --edition 2021 -o guard-rs guard.rs
//!
//! The standard library alone. The trial protocol is described in
//! ../record/protocol.schema.json.

use std::io::{Read, Write};
use std::mem::{size_of, size_of_val};
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::io::FromRawFd;

const ANSWER_FD: i32 = 3;

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn getrusage(who: c_int, usage: *mut [i64; 18]) -> c_int;
    fn sched_setaffinity(pid: c_int, len: usize, mask: *const u64) -> c_int;
    fn clock_gettime(clock: c_int, time: *mut [i64; 2]) -> c_int;
}

// ---- what the verbs library's header says of a receive ----

#[repr(C)]
#[derive(Clone, Copy)]
struct Sge {
    addr: u64,
    length: u32,
    lkey: u32,
}

#[repr(C)]
struct RecvWr {
    wr_id: u64,
    next: *mut RecvWr,
    sg_list: *mut Sge,
    num_sge: c_int,
}

const _: () = assert!(size_of::<Sge>() == 16 && size_of::<RecvWr>() == 32);

/// What the stand-in has been given.
#[derive(Default, PartialEq, Debug)]
struct Seen {
    posts: u64,
    wrs: u64,
    sges: u64,
    bytes: u64,
    ids: u64,
}

extern "C" fn stand_in(seen: &mut Seen, mut wr: *mut RecvWr) -> c_int {
    seen.posts += 1;
    while !wr.is_null() {
        let w = unsafe { &*wr };
        seen.wrs += 1;
        seen.ids = seen.ids.wrapping_add(w.wr_id);
        seen.sges += w.num_sge as u64;
        for i in 0..w.num_sge as usize {
            seen.bytes += unsafe { std::ptr::read_volatile(&(*w.sg_list.add(i)).length) } as u64;
        }
        wr = w.next;
    }
    0
}

type Post = extern "C" fn(&mut Seen, *mut RecvWr) -> c_int;

/// Returns a value the compiler cannot know: std::hint::black_box, which compilers
/// older than Rust 1.66 lack.
#[inline(always)]
fn opaque<T: Copy>(value: T) -> T {
    unsafe { std::ptr::read_volatile(&value) }
}

// ---- the guard ----

/// Gathers receives and posts them at once.
struct Guard {
    wrs: Vec<RecvWr>,
    sges: Vec<Sge>,
}

impl Guard {
    fn new() -> Self {
        Guard { wrs: Vec::new(), sges: Vec::new() }
    }

    /// Adds a receive with no list: only the fix-up pass knows where it will be.
    #[inline(always)]
    fn add(&mut self, wr_id: u64) {
        self.wrs.push(RecvWr { wr_id, next: std::ptr::null_mut(), sg_list: std::ptr::null_mut(), num_sge: 0 });
    }

    /// Says how many SGEs the receive added last has.
    #[inline(always)]
    fn set_sges(&mut self, n: usize) {
        // Safe: every caller has added one.
        unsafe { self.wrs.last_mut().unwrap_unchecked().num_sge = n as c_int }
    }

    #[inline(always)]
    fn receive(&mut self, wr_id: u64, sge: Sge) {
        self.add(wr_id);
        self.sges.push(sge);
        self.set_sges(1);
    }

    #[inline(always)]
    fn receive_list(&mut self, wr_id: u64, list: &[Sge]) {
        self.add(wr_id);
        self.sges.extend_from_slice(list);
        self.set_sges(list.len());
    }

    /// Links the receives and points each at its SGEs.
    fn fix_up(&mut self) -> *mut RecvWr {
        let (mut at, n) = (0, self.wrs.len());
        let (wrs, sges) = (self.wrs.as_mut_ptr(), self.sges.as_mut_ptr());
        for i in 0..n {
            unsafe {
                let wr = &mut *wrs.add(i);
                wr.next = if i + 1 < n { wrs.add(i + 1) } else { std::ptr::null_mut() };
                if wr.num_sge > 0 {
                    wr.sg_list = sges.add(at);
                    at += wr.num_sge as usize;
                }
            }
        }
        wrs
    }
}

// ---- the work ----

/// What a trial asks for, and where its batches are.
struct Work {
    batch: u64,
    sges: usize,
    each: u32, // bytes of an SGE
    buffer: u64,
    wr_id: u64,
    post: Post,
    seen: Seen,
}

impl Work {
    #[inline(always)]
    fn build(&mut self) -> (Guard, *mut RecvWr) {
        let mut g = Guard::new();
        let (buffer, each, sges, id) = (self.buffer, self.each, self.sges, self.wr_id);
        let part = |j: usize| Sge { addr: buffer + j as u64 * each as u64, length: each, lkey: 7 };
        for i in 0..self.batch {
            match sges {
                1 => g.receive(id + i, part(0)),
                n => g.receive_list(id + i, &[part(0), part(1), part(2), part(3)][..n]),
            }
        }
        self.wr_id = id + self.batch;
        let first = g.fix_up();
        (g, first)
    }

    #[inline(always)]
    fn whole(&mut self) {
        let (g, first) = self.build();
        (self.post)(&mut self.seen, opaque(first));
        drop(g);
    }

    /// One batch, timed in its parts.
    #[inline(always)]
    fn parts(&mut self, clock: &Clock) -> Lap {
        let t0 = clock.now();
        let (g, first) = self.build();
        let t1 = clock.now();
        (self.post)(&mut self.seen, opaque(first));
        let t2 = clock.now();
        drop(g);
        Lap { build: t1 - t0, drop: clock.now() - t2, post: t2 - t1 }
    }
}

#[derive(Clone, Copy, Default)]
struct Lap {
    build: u64,
    post: u64,
    drop: u64,
}

/// A segment of batches timed as a whole.
#[derive(Clone, Copy, Default)]
struct Total {
    ticks: u64,
    batches: u64,
}

/// Figures of a window. The room for them is made, and touched, beforehand.
struct Figures {
    laps: Vec<Lap>,
    totals: Vec<Total>,
}

impl Figures {
    fn clear(&mut self) {
        self.laps.clear();
        self.totals.clear();
    }
}

/// Work requests between two readings of the clock where batches are timed as a whole.
const SEGMENT_WRS: u64 = 1024;

fn run(w: &mut Work, posts: u64, clock: &Clock, f: &mut Figures) {
    let segment = (SEGMENT_WRS / w.batch).max(1);
    let (mut parts, mut wholes) = ((posts + 1) / 2, posts / 2);
    while parts + wholes > 0 {
        for _ in 0..segment.min(parts) {
            let lap = w.parts(clock);
            f.laps.push(lap);
        }
        parts -= segment.min(parts);
        let n = segment.min(wholes);
        if n == 0 {
            continue;
        }
        let start = clock.now();
        for _ in 0..n {
            w.whole();
        }
        f.totals.push(Total { ticks: clock.now() - start, batches: n });
        wholes -= n;
    }
}

fn room(posts: u64) -> Figures {
    let mut f = Figures { laps: vec![Lap { build: 1, post: 1, drop: 1 }; posts as usize], totals: vec![Total { ticks: 1, batches: 1 }; posts as usize] };
    f.clear();
    f
}

// ---- the clock ----

struct Clock {
    tsc: bool,
    tick_ns: f64,
}

impl Clock {
    #[inline(always)]
    fn now(&self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if self.tsc {
            let mut cpu = 0;
            unsafe {
                let t = std::arch::x86_64::__rdtscp(&mut cpu);
                std::arch::x86_64::_mm_lfence();
                return t;
            }
        }
        let mut t = [0i64; 2];
        unsafe { clock_gettime(1, &mut t) };
        (t[0] * 1_000_000_000 + t[1]) as u64
    }

    /// The cost of a reading, in ticks: part of every span that is timed.
    fn cost(&self) -> f64 {
        let mut best = u64::MAX;
        for _ in 0..32 {
            let start = self.now();
            for _ in 0..255 {
                self.now();
            }
            best = best.min(self.now() - start);
        }
        best as f64 / 256.0
    }
}

fn median(mut v: Vec<f64>) -> f64 {
    v.sort_by(f64::total_cmp);
    match v.len() {
        0 => 0.0,
        n => (v[(n - 1) / 2] + v[n / 2]) / 2.0,
    }
}

// ---- the protocol ----

/// Returns the value of a path in JSON, as it stands there.
fn find<'a>(json: &'a str, path: &[&str]) -> Option<&'a str> {
    let (key, rest) = match path.split_first() {
        Some(split) => split,
        None => return Some(json),
    };
    let mut s = json.trim_start().strip_prefix('{')?.trim_start();
    while s.starts_with('"') {
        let name = &s[..value_len(s)];
        let value = s[name.len()..].trim_start().strip_prefix(':')?.trim_start();
        let n = value_len(value);
        if &name[1..name.len() - 1] == *key {
            return find(&value[..n], rest);
        }
        s = value[n..].trim_start();
        s = s.strip_prefix(',').unwrap_or(s).trim_start();
    }
    None
}

/// The length of the JSON value that s begins with.
fn value_len(s: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (i, c) in s.bytes().enumerate() {
        match (quoted, c) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (true, b'"') => {
                quoted = false;
                if depth == 0 {
                    return i + 1;
                }
            }
            (true, _) => {}
            (false, b'"') => quoted = true,
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']') if depth == 1 => return i + 1,
            (false, b',' | b'}' | b']' | b' ' | b'\n') if depth == 0 => return i,
            (false, b'}' | b']') => depth -= 1,
            _ => {}
        }
    }
    s.len()
}

/// Calls a function of the counting shim, which is preloaded in counting trials.
fn window(edge: &'static [u8]) {
    unsafe {
        let f = dlsym(std::ptr::null_mut(), edge.as_ptr() as *const c_char);
        if !f.is_null() {
            std::mem::transmute::<*mut c_void, extern "C" fn()>(f)();
        }
    }
}

/// Minor and major faults of this thread, and its switches.
fn usage() -> [i64; 4] {
    const RUSAGE_THREAD: c_int = 1;
    let mut u = [0i64; 18];
    unsafe { getrusage(RUSAGE_THREAD, &mut u) };
    [u[8], u[9], u[16], u[17]]
}

fn pin(cpu: i64) -> Result<(), String> {
    let mut mask = [0u64; 16];
    if !(0..1024).contains(&cpu) {
        return Ok(());
    }
    mask[cpu as usize / 64] = 1 << (cpu % 64);
    match unsafe { sched_setaffinity(0, size_of_val(&mask), mask.as_ptr()) } {
        0 => Ok(()),
        _ => Err(format!("pin to CPU {cpu}: {}", std::io::Error::last_os_error())),
    }
}

fn trial(spec: &str) -> Result<String, String> {
    let number = |path: &[&str]| find(spec, path).and_then(|v| v.parse::<i64>().ok());
    let text = |path: &[&str]| find(spec, path).unwrap_or("").trim_matches('"');
    if text(&["workload", "kind"]) != "rdma-post-recv" {
        return Err("this adapter is for kind rdma-post-recv".into());
    }
    let sges = number(&["workload", "sges"]).unwrap_or(1).clamp(1, 4) as usize;
    let bytes = number(&["workload", "bytes"]).unwrap_or(0) as usize;
    let posts = number(&["messages"]).unwrap_or(0) as u64;
    let buffer = vec![0u8; bytes.max(1)];
    let mut w = Work {
        batch: number(&["workload", "batch"]).unwrap_or(1).max(1) as u64, sges, each: (bytes / sges) as u32,
        buffer: buffer.as_ptr() as u64, wr_id: 0, post: opaque(stand_in as Post), seen: Seen::default(),
    };
    let tsc = cfg!(target_arch = "x86_64") && text(&["clock", "source"]) == "tsc";
    let hz = text(&["clock", "ticks_hz"]).parse::<f64>().unwrap_or(1e9);
    let clock = Clock { tsc, tick_ns: if tsc { 1e9 / hz } else { 1.0 } };
    pin(number(&["cpu"]).unwrap_or(-1))?;
    let cost = clock.cost();
    let first = w.parts(&clock);
    let warmup = number(&["warmup"]).unwrap_or(1) as u64;
    // One room for both: memory freed before the window would change where the
    // allocator finds room in it.
    let mut f = room(posts.max(warmup));
    run(&mut w, warmup, &clock, &mut f);
    f.clear();
    w.seen = Seen::default();
    let (id, before, start) = (w.wr_id, usage(), clock.now());
    window(b"zc_window_begin\0");
    run(&mut w, posts, &clock, &mut f);
    window(b"zc_window_end\0");
    let (ticks, after) = (clock.now() - start, usage());

    let wrs = posts * w.batch;
    let want = Seen { posts, wrs, sges: wrs * sges as u64, bytes: wrs * (bytes / sges * sges) as u64, ids: (id..id + wrs).sum() };
    if w.seen != want {
        return Err(format!("the queue was given {:?}, not {want:?}", w.seen));
    }
    let verify = text(&["purpose"]) == "verify";
    let work = if verify { (0, 0) } else { (wrs, wrs * bytes as u64) };
    Ok(format!(
        "\"status\":\"ok\",\"fingerprint\":{{\"ops\":{},\"bytes\":{},\"sum\":\"0\"}},{},{},\"notes\":[\"the post is a stand-in that reads each request: total_per_wr holds no provider's post\"]",
        work.0, work.1, faults(ticks as f64 * clock.tick_ns, before, after), metrics(&w, &f, &clock, cost, first),
    ))
}

fn faults(ns: f64, before: [i64; 4], after: [i64; 4]) -> String {
    format!(
        "\"window\":{{\"ns\":{ns:.0},\"minor_faults\":{},\"major_faults\":{},\"syscalls\":0,\"voluntary_switches\":{},\"involuntary_switches\":{},\"steal_ns\":0}}",
        after[0] - before[0], after[1] - before[1], after[2] - before[2], after[3] - before[3],
    )
}

/// The times, in seconds. Those of other trials than timing ones are passed over.
fn metrics(w: &Work, f: &Figures, clock: &Clock, cost: f64, first: Lap) -> String {
    let seconds = |ticks: f64| ticks * clock.tick_ns / 1e9;
    let part = |of: fn(&Lap) -> u64| seconds((median(f.laps.iter().map(|l| of(l) as f64).collect()) - cost).max(0.0));
    let (build, drop) = (part(|l| l.build), part(|l| l.drop));
    let total = seconds(median(f.totals.iter().map(|t| t.ticks as f64 / t.batches as f64).collect()));
    let n = w.batch as f64;
    let mut all = vec![
        ("build_per_wr", build / n), ("drop_per_wr", drop / n), ("build_per_call", build), ("drop_per_call", drop),
        ("first_call", seconds((first.build + first.post + first.drop) as f64)),
    ];
    if !f.totals.is_empty() {
        all.extend([("total_per_wr", total / n), ("total_per_call", total)]);
    }
    let list: Vec<String> = all.iter().map(|(name, v)| format!("\"{name}\":{{\"v\":{v:e}}}")).collect();
    format!("\"metrics\":{{{}}}", list.join(","))
}

fn main() {
    let mut spec = String::new();
    if std::io::stdin().read_to_string(&mut spec).is_err() {
        eprintln!("the trial on standard input is not text");
        std::process::exit(1);
    }
    let body = trial(&spec).unwrap_or_else(|why| format!("\"status\":\"failed\",\"error\":{why:?}"));
    let id = find(&spec, &["id"]).unwrap_or("\"\"");
    let mut out = unsafe { std::fs::File::from_raw_fd(ANSWER_FD) };
    if let Err(e) = writeln!(out, "{{\"schema\":1,\"trial\":{id},{body}}}") {
        eprintln!("write the record to fd 3: {e}");
        std::process::exit(1);
    }
}

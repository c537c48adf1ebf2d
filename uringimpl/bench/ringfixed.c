/*
 * The receive loop of strategy ring-fixed in C, for the comparison in
 * compare_test.go: provided chunks through a registered buffer ring a client,
 * multishot receives, re-provided once a wake-up, messages found by their header
 * and made contiguous. It uses raw system calls, needs no liburing, and does for
 * each message what the Go program does in a timing trial: check the header, add
 * to the fingerprint, note size and latency, acknowledge.
 *
 * Arguments: port token clients seed warmup messages chunk chunks cpu largest
 * fd 3: one line with the result. fd 4: the progress counters (harness/load).
 *
 * Interface: include/uapi/linux/io_uring.h, Linux 6.1.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 24, STRIDE = 64, ANSWER_FD = 3, PROGRESS_FD = 4 };

struct header {
	uint32_t length, client;
	uint64_t intended;
	uint32_t seq, check;
};

struct ring {
	int fd;
	uint32_t *sq_head, *sq_tail, sq_mask, tail;
	struct io_uring_sqe *sqes;
	uint32_t *cq_head, *cq_tail, cq_mask;
	struct io_uring_cqe *cqes;
	uint64_t enters;
};

struct group {
	struct io_uring_buf *bufs;
	uint16_t tail, head, mask;
};

struct stream {
	uint32_t length, have; /* of the open message */
	uint32_t seq;
	int any, assembling;
	uint8_t *piece; /* first bytes of the open message, in chunk */
	uint32_t piece_len;
	int chunk;
	uint64_t count;
	struct header header;
	uint8_t raw[HEADER];
	uint8_t *assembly;
};

struct state {
	struct ring ring;
	struct group *groups;
	struct stream *streams;
	int *fds, clients;
	uint8_t *mem;
	uint32_t chunk, chunks;
	int32_t *refs, *freed, *unarmed;
	uint8_t *dirty;
	int nfreed, nunarmed;
	uint64_t seed, got, bytes, sum;
	uint64_t *ticks;
	uint32_t *sizes, noted, room;
	uint8_t *progress;
};

static void die(const char *what)
{
	fprintf(stderr, "ringfixed: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *map(size_t n, int flags, int fd, off_t off)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, flags, fd, off);
	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static void *zeroed(size_t n)
{
	void *p = calloc(1, n);
	if (!p)
		die("calloc");
	return memset(p, 0, n);
}

/* As clock.Ticks: fenced on both sides. */
static inline uint64_t now(void)
{
#ifdef __x86_64__
	uint32_t lo, hi;
	__asm__ volatile("rdtscp\n\tlfence" : "=a"(lo), "=d"(hi) : : "rcx", "memory");
	return (uint64_t)hi << 32 | lo;
#else
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + ts.tv_nsec;
#endif
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec ts;
	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void ring_open(struct ring *r, unsigned sq, unsigned cq)
{
	struct io_uring_params p = {
		.flags = IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			 IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP,
		.cq_entries = cq,
	};
	r->fd = syscall(SYS_io_uring_setup, sq, &p);
	if (r->fd < 0)
		die("io_uring_setup");
	size_t n = p.sq_off.array + p.sq_entries * 4, m = p.cq_off.cqes + p.cq_entries * sizeof(*r->cqes);
	uint8_t *mem = map(n > m ? n : m, MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQ_RING);
	r->sqes = map(p.sq_entries * sizeof(*r->sqes), MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQES);
	r->sq_head = (uint32_t *)(mem + p.sq_off.head);
	r->sq_tail = (uint32_t *)(mem + p.sq_off.tail);
	r->sq_mask = *(uint32_t *)(mem + p.sq_off.ring_mask);
	r->cq_head = (uint32_t *)(mem + p.cq_off.head);
	r->cq_tail = (uint32_t *)(mem + p.cq_off.tail);
	r->cq_mask = *(uint32_t *)(mem + p.cq_off.ring_mask);
	r->cqes = (struct io_uring_cqe *)(mem + p.cq_off.cqes);
	uint32_t *array = (uint32_t *)(mem + p.sq_off.array);
	for (uint32_t i = 0; i < p.sq_entries; i++)
		array[i] = i;
}

static uint32_t ring_pending(struct ring *r) { return r->tail - __atomic_load_n(r->sq_head, __ATOMIC_ACQUIRE); }

static void ring_enter(struct ring *r)
{
	struct { int64_t sec, nsec; } ts = {1, 0};
	struct io_uring_getevents_arg arg = {.ts = (uint64_t)(uintptr_t)&ts};
	__atomic_store_n(r->sq_tail, r->tail, __ATOMIC_RELEASE);
	uint32_t n = ring_pending(r);
	r->enters++;
	if (syscall(SYS_io_uring_enter, r->fd, n, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &arg, sizeof(arg)) < 0 &&
	    errno != EINTR && errno != ETIME && errno != EAGAIN && errno != EBUSY)
		die("io_uring_enter");
}

static inline void group_add(struct state *s, struct group *g, int32_t id)
{
	struct io_uring_buf *e = &g->bufs[g->tail++ & g->mask];
	e->addr = (uint64_t)(uintptr_t)(s->mem + (size_t)id * s->chunk);
	e->len = s->chunk;
	e->bid = (uint16_t)(id % s->chunks);
	s->refs[id] = 1;
}

static inline void group_publish(struct group *g) { __atomic_store_n(&g->bufs[0].resv, g->tail, __ATOMIC_RELEASE); }

static void group_open(struct state *s, int client)
{
	struct group *g = &s->groups[client];
	uint32_t entries = 1;
	while (entries < s->chunks)
		entries *= 2;
	g->mask = entries - 1;
	g->bufs = map(entries * sizeof(*g->bufs), MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct io_uring_buf_reg reg = {.ring_addr = (uint64_t)(uintptr_t)g->bufs, .ring_entries = entries, .bgid = client};
	if (syscall(SYS_io_uring_register, s->ring.fd, IORING_REGISTER_PBUF_RING, &reg, 1) < 0)
		die("register a buffer ring");
	for (uint32_t i = 0; i < s->chunks; i++)
		group_add(s, g, client * s->chunks + i);
	group_publish(g);
}

static inline void unref(struct state *s, int32_t id)
{
	if (--s->refs[id] == 0)
		s->freed[s->nfreed++] = id;
}

static inline uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static const uint64_t golden = 0x9e3779b97f4a7c15u;

static inline void check(struct state *s, int client, struct stream *c)
{
	struct header *h = &c->header;
	uint32_t want = (uint32_t)mix((s->seed ^ (uint64_t)h->client << 32 ^ h->seq) + golden * h->length);
	if (h->check != want || h->length < HEADER || (int)h->client != client || (c->any && h->seq <= c->seq)) {
		fprintf(stderr, "ringfixed: client %d, message %llu: wrong header\n", client, (unsigned long long)c->count);
		exit(1);
	}
}

static inline void finish(struct state *s, int client, struct stream *c, uint64_t tick)
{
	struct header *h = &c->header;
	s->got++;
	s->bytes += h->length;
	s->sum += h->check * golden + h->length;
	c->seq = h->seq;
	c->any = 1;
	c->count++;
	c->length = c->have = 0;
	if (s->noted < s->room) {
		s->ticks[s->noted] = tick - h->intended;
		s->sizes[s->noted++] = h->length;
	}
	__atomic_store_n((uint64_t *)(s->progress + (3 + client) * STRIDE), c->count, __ATOMIC_RELEASE);
}

/* add appends bytes to the open message: in place as long as they follow on,
 * then together in the client's assembly buffer. */
static void add(struct state *s, struct stream *c, uint8_t *p, uint32_t n, int32_t id)
{
	if (!c->assembling) {
		if (c->chunk == id && c->piece + c->piece_len == p) {
			c->piece_len += n;
			return;
		}
		if (c->chunk < 0) {
			s->refs[id]++;
			c->chunk = id;
			c->piece = p;
			c->piece_len = n;
			return;
		}
		memcpy(c->assembly, c->piece, c->piece_len);
		unref(s, c->chunk);
		c->assembling = 1;
	}
	memcpy(c->assembly + c->have, p, n);
}

static uint32_t partial(struct state *s, int client, struct stream *c, uint8_t *p, uint32_t len, int32_t id, uint64_t tick)
{
	uint32_t want = c->length ? c->length : HEADER, n = want - c->have < len ? want - c->have : len;
	if (c->have < HEADER)
		memcpy(c->raw + c->have, p, n);
	add(s, c, p, n, id);
	c->have += n;
	if (!c->length && c->have >= HEADER) {
		memcpy(&c->header, c->raw, HEADER);
		c->length = c->header.length;
		check(s, client, c);
	}
	if (c->length && c->have == c->length) {
		if (!c->assembling)
			unref(s, c->chunk);
		c->chunk = -1;
		c->assembling = 0;
		finish(s, client, c, tick);
	}
	return n;
}

static inline void deliver(struct state *s, int client, uint8_t *p, uint32_t len, int32_t id, uint64_t tick)
{
	struct stream *c = &s->streams[client];
	while (len > 0) {
		if (c->have == 0 && len >= HEADER) {
			struct header h;
			memcpy(&h, p, HEADER);
			if (h.length <= len && h.length >= HEADER) {
				c->header = h;
				check(s, client, c);
				finish(s, client, c, tick);
				p += h.length;
				len -= h.length;
				continue;
			}
		}
		uint32_t n = partial(s, client, c, p, len, id, tick);
		p += n;
		len -= n;
	}
}

static void take(struct state *s, struct io_uring_cqe *cqe)
{
	int client = (int)cqe->user_data;
	if (!(cqe->flags & IORING_CQE_F_MORE))
		s->unarmed[s->nunarmed++] = client;
	if (cqe->res <= 0) {
		if (cqe->res == -ENOBUFS)
			return;
		errno = -cqe->res;
		die("receive");
	}
	s->groups[client].head++;
	int32_t id = client * s->chunks + (cqe->flags >> IORING_CQE_BUFFER_SHIFT);
	deliver(s, client, s->mem + (size_t)id * s->chunk, cqe->res, id, now());
	unref(s, id);
}

static void recycle(struct state *s)
{
	if (s->nfreed == 0)
		return;
	for (int i = 0; i < s->nfreed; i++) {
		int client = s->freed[i] / s->chunks;
		s->dirty[client] = 1;
		group_add(s, &s->groups[client], s->freed[i]);
	}
	s->nfreed = 0;
	for (int c = 0; c < s->clients; c++)
		if (s->dirty[c]) {
			s->dirty[c] = 0;
			group_publish(&s->groups[c]);
		}
}

static void arm(struct state *s)
{
	for (int i = 0; i < s->nunarmed; i++) {
		struct io_uring_sqe *e = &s->ring.sqes[s->ring.tail++ & s->ring.sq_mask];
		memset(e, 0, sizeof(*e));
		e->opcode = IORING_OP_RECV;
		e->fd = s->fds[s->unarmed[i]];
		e->flags = IOSQE_BUFFER_SELECT;
		e->ioprio = IORING_RECV_MULTISHOT;
		e->buf_group = s->unarmed[i];
		e->user_data = s->unarmed[i];
	}
	s->nunarmed = 0;
}

static void receive(struct state *s, uint64_t target)
{
	struct ring *r = &s->ring;
	while (s->got < target) {
		recycle(s);
		arm(s);
		if (*r->cq_head == __atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE) || ring_pending(r) > 0)
			ring_enter(r);
		uint32_t head = *r->cq_head, tail = __atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE);
		for (; head != tail; head++)
			take(s, &r->cqes[head & r->cq_mask]);
		__atomic_store_n(r->cq_head, head, __ATOMIC_RELEASE);
	}
}

static int dial(int port, const char *token, uint32_t client)
{
	uint8_t hello[20];
	for (int i = 0; i < 16; i++) {
		unsigned v;
		if (sscanf(token + 2 * i, "%2x", &v) != 1)
			die("token");
		hello[i] = v;
	}
	memcpy(hello + 16, &client, 4);
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 || write(fd, hello, sizeof(hello)) != sizeof(hello) ||
	    fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		die("connect");
	return fd;
}

static unsigned clamp(unsigned v, unsigned lo, unsigned hi) { return v < lo ? lo : v > hi ? hi : v; }

static void prepare(struct state *s, char **argv, uint32_t messages, uint32_t largest)
{
	int n = s->clients;
	size_t buffers = (size_t)n * s->chunks;
	s->fds = zeroed(n * sizeof(*s->fds));
	s->groups = zeroed(n * sizeof(*s->groups));
	s->streams = zeroed(n * sizeof(*s->streams));
	s->unarmed = zeroed(n * sizeof(*s->unarmed));
	s->dirty = zeroed(n);
	s->refs = zeroed(buffers * sizeof(*s->refs));
	s->freed = zeroed(buffers * sizeof(*s->freed));
	s->ticks = zeroed((messages + 1) * sizeof(*s->ticks));
	s->sizes = zeroed((messages + 1) * sizeof(*s->sizes));
	s->room = messages + 1;
	s->progress = map((3 + n) * STRIDE, MAP_SHARED | MAP_POPULATE, PROGRESS_FD, 0);
	s->mem = map(buffers * s->chunk, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	madvise(s->mem, buffers * s->chunk, MADV_NOHUGEPAGE);
	ring_open(&s->ring, clamp(n, 8, 4096), clamp(n * (s->chunks + 1), 256, 32768));
	for (int c = 0; c < n; c++) {
		s->fds[c] = dial(atoi(argv[1]), argv[2], c);
		s->streams[c].chunk = -1;
		s->streams[c].assembly = map(largest, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		group_open(s, c);
		s->unarmed[s->nunarmed++] = c;
	}
}

int main(int argc, char **argv)
{
	if (argc != 11) {
		fprintf(stderr, "ringfixed: 10 arguments, see the top of ringfixed.c\n");
		return 2;
	}
	struct state s = {.clients = atoi(argv[3]), .seed = strtoull(argv[4], NULL, 10), .chunk = atoi(argv[7]), .chunks = atoi(argv[8])};
	uint64_t warmup = strtoull(argv[5], NULL, 10), messages = strtoull(argv[6], NULL, 10);
	int cpu = atoi(argv[9]);
	if (cpu >= 0) {
		cpu_set_t set;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set) < 0)
			die("sched_setaffinity");
	}
	prepare(&s, argv, messages, atoi(argv[10]));
	receive(&s, warmup);
	uint64_t bytes = s.bytes, enters = s.ring.enters;
	s.noted = 0;
	int64_t wall = clock_ns(CLOCK_MONOTONIC), cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	__atomic_store_n((uint64_t *)(s.progress + 2 * STRIDE), 1, __ATOMIC_RELEASE);
	receive(&s, warmup + messages);
	cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
	wall = clock_ns(CLOCK_MONOTONIC) - wall;
	dprintf(ANSWER_FD, "{\"ops\":%llu,\"bytes\":%llu,\"sum\":\"%llu\",\"window_bytes\":%llu,\"cpu_ns\":%lld,\"wall_ns\":%lld,\"enters\":%llu}\n",
		(unsigned long long)s.got, (unsigned long long)s.bytes, (unsigned long long)s.sum,
		(unsigned long long)(s.bytes - bytes), (long long)cpu_ns, (long long)wall,
		(unsigned long long)(s.ring.enters - enters));
	return 0;
}

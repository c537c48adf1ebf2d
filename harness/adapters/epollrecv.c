// An adapter of kind receive: a plain epoll loop with a buffer for each client,
// in which messages are used where they were read to. It stands for the library
// that an author would plug in.
//
//	cc -O2 -o epollrecv epollrecv.c -ldl
#define _GNU_SOURCE
#include "trial.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

// Every message begins with this, little endian; length counts it.
struct header {
	uint32_t length, client;
	uint64_t intended; // send time, in ticks of the trial's clock
	uint32_t seq, check;
};
enum { HEADER = sizeof(struct header), STRIDE = 64 };

struct client {
	int fd;
	char *buffer;
	size_t have;              // bytes in the buffer, beginning with a header
	uint64_t key, off, count; // of its payload; stream offset of the buffer; messages
	uint32_t next;            // least sequence number due
};

// job is one trial at work.
struct job {
	const char *trial;
	struct client *clients;
	long long clients_n, warmup, messages;
	uint64_t seed, got, bytes, sum;
	size_t room; // of a client's buffer
	int closed, lockstep, verify, touch, tsc;
	double tick_ns;
	char *progress;
	uint64_t syscalls, receives, copied;
	uint64_t *latency; // ticks, of the window's messages
	volatile uint64_t touched;
};

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static const uint64_t golden = 0x9e3779b97f4a7c15;

// due is the check word that a header must hold.
static uint32_t due(uint64_t seed, const struct header *h)
{
	return (uint32_t)mix((seed ^ (uint64_t)h->client << 32 ^ h->seq) + golden * h->length);
}

static uint64_t now(const struct job *j)
{
#ifdef __x86_64__
	if (j->tsc) {
		unsigned cpu;
		uint64_t t = __rdtscp(&cpu);
		_mm_lfence();
		return t;
	}
#endif
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// The counters shared with the generator: the i-th lies at 64 * i. 0 is sent, 1
// done, 2 the phase, and from 3 on one of each client's consumed messages.
static void publish(struct job *j, size_t i, uint64_t value)
{
	__atomic_store_n((uint64_t *)(j->progress + i * STRIDE), value, __ATOMIC_SEQ_CST);
}

static uint64_t sent(struct job *j)
{
	return __atomic_load_n((uint64_t *)j->progress, __ATOMIC_SEQ_CST);
}

// verify compares the payload of a message, whose first byte has offset off in its
// client's stream.
static void verify(struct job *j, long long i, const char *p, size_t n, uint64_t off)
{
	for (size_t k = HEADER; k < n; k++)
		if ((unsigned char)p[k] != (unsigned char)(mix(j->clients[i].key + golden * ((off + k) / 8)) >> ((off + k) % 8 * 8)))
			fail(j->trial, "client %lld: payload byte %llu of its stream is wrong", i, (unsigned long long)(off + k));
}

// finish uses one whole message and acknowledges it.
static void finish(struct job *j, long long i, const struct header *h, const char *p, uint64_t at)
{
	struct client *c = &j->clients[i];
	uint64_t sum = 0;
	for (uint32_t k = 0; j->touch && k < h->length; k++)
		sum += (unsigned char)p[k];
	j->touched += sum;
	j->got++;
	j->bytes += h->length;
	j->sum += (uint64_t)h->check * golden + h->length;
	if ((long long)j->got > j->warmup)
		j->latency[j->got - (uint64_t)j->warmup - 1] = at > h->intended ? at - h->intended : 0;
	c->next = h->seq + 1;
	c->count++;
	if (j->closed)
		publish(j, 3 + (size_t)i, c->count);
	if (j->lockstep)
		publish(j, 1, j->got);
}

// take goes through the messages in a client's buffer and moves what is left of
// one to its front.
static void take(struct job *j, long long i, uint64_t at)
{
	struct client *c = &j->clients[i];
	char *p = c->buffer;
	size_t n = c->have;
	while (n >= HEADER) {
		struct header h;
		memcpy(&h, p, HEADER);
		if (h.check != due(j->seed, &h) || h.client != i || h.seq < c->next || h.length < HEADER || h.length > j->room)
			fail(j->trial, "client %lld: not the header due at byte %llu of its stream", i, (unsigned long long)c->off);
		if (n < h.length)
			break;
		if (j->verify)
			verify(j, i, p, h.length, c->off);
		finish(j, i, &h, p, at);
		p += h.length;
		n -= h.length;
		c->off += h.length;
	}
	if (n > 0 && p != c->buffer) {
		memmove(c->buffer, p, n);
		j->copied += n;
	}
	c->have = n;
}

// receive takes messages until there are target of them. It reads once each time
// a client is readable, so that counts repeat in lockstep.
static void receive(struct job *j, int epoll, uint64_t target)
{
	struct epoll_event ready[64];
	while (j->got < target) {
		for (unsigned spins = 1; j->lockstep && sent(j) <= j->got; spins++)
			if (spins % 256 == 0)
				sched_yield();
		int n = epoll_wait(epoll, ready, 64, -1);
		j->syscalls++;
		for (int k = 0; k < n; k++) {
			long long i = ready[k].data.u32;
			struct client *c = &j->clients[i];
			ssize_t len = read(c->fd, c->buffer + c->have, j->room - c->have);
			j->syscalls++;
			if (len < 0 && (errno == EAGAIN || errno == EINTR))
				continue;
			if (len <= 0)
				fail(j->trial, "client %lld after %llu messages: %s", i, (unsigned long long)c->count, len ? strerror(errno) : "the generator is gone");
			j->receives++;
			c->have += (size_t)len;
			take(j, i, now(j));
		}
		if (n < 0 && errno != EINTR)
			fail(j->trial, "epoll_wait: %s", strerror(errno));
	}
}

// dial connects a client and says which it is: the token's 16 bytes and its
// number.
static int dial(struct job *j, uint32_t client)
{
	struct text address = find(j->trial, "peer.address"), token = find(j->trial, "peer.token");
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	const char *port = memchr(address.at, ':', address.len);
	unsigned char hello[20];
	if (!port || token.len != 34)
		fail(j->trial, "the trial names no generator");
	to.sin_port = htons((uint16_t)atoi(port + 1));
	for (int i = 0; i < 16; i++)
		sscanf(token.at + 1 + 2 * i, "%2hhx", &hello[i]);
	memcpy(hello + 16, &client, 4);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), room = 64 << 20;
	// A message must fit the socket whole in lockstep.
	if (j->lockstep && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) || write(fd, hello, sizeof hello) != sizeof hello || fcntl(fd, F_SETFL, O_NONBLOCK))
		fail(j->trial, "connect client %u: %s", client, strerror(errno));
	return fd;
}

// prepare reads the trial and connects its clients.
static int prepare(struct job *j)
{
	const char *t = j->trial;
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!is(t, "peer.network", "tcp"))
		skip(t, "this adapter receives over tcp only", "take transport: tcp");
	j->clients_n = number(t, "workload.clients", 0);
	j->warmup = number(t, "warmup", 0);
	j->messages = number(t, "messages", 0);
	j->seed = strtoull(find(t, "seed").at + 1, NULL, 10);
	j->closed = is(t, "workload.load.mode", "closed");
	j->lockstep = is(t, "workload.load.mode", "lockstep");
	j->verify = is(t, "purpose", "verify");
	j->touch = is(t, "workload.touch", "payload");
	j->room = (size_t)number(t, "workload.budget_bytes", 0);
	j->tsc = is(t, "clock.source", "tsc");
	j->tick_ns = j->tsc ? 1e9 / strtod(find(t, "clock.ticks_hz").at, NULL) : 1;
	j->clients = calloc((size_t)j->clients_n, sizeof *j->clients);
	j->latency = malloc((size_t)j->messages * sizeof *j->latency);
	j->progress = mmap(NULL, (size_t)(3 + j->clients_n) * STRIDE, PROT_READ | PROT_WRITE, MAP_SHARED, PROGRESS_FD, 0);
	if (epoll < 0 || !j->clients || !j->latency || j->progress == MAP_FAILED)
		fail(t, "prepare %lld clients: %s", j->clients_n, strerror(errno));
	memset(j->latency, 1, (size_t)j->messages * sizeof *j->latency); // no page fault in the window
	long long cpu = number(t, "cpu", -1);
	cpu_set_t set;
	CPU_ZERO(&set);
	if (cpu >= 0)
		CPU_SET((size_t)cpu, &set);
	if (cpu >= 0 && sched_setaffinity(0, sizeof set, &set))
		fail(t, "pin to CPU %lld: %s", cpu, strerror(errno));
	for (uint32_t i = 0; i < j->clients_n; i++) {
		struct epoll_event e = {.events = EPOLLIN, .data = {.u32 = i}};
		j->clients[i].key = mix(j->seed + golden * (i + 1));
		j->clients[i].buffer = malloc(j->room);
		j->clients[i].fd = dial(j, i);
		if (!j->clients[i].buffer)
			fail(t, "no memory for the buffer of client %u", i);
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, j->clients[i].fd, &e))
			fail(t, "watch client %u: %s", i, strerror(errno));
	}
	return epoll;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

// percentile writes the p-quantile by nearest rank, where ten messages are above.
static void percentile(const struct job *j, const char *name, double p)
{
	double n = (double)j->messages, rank = n * p;
	if (n - rank >= 10)
		dprintf(ANSWER_FD, ",\"%s\":{\"v\":%.9g}", name, (double)j->latency[(size_t)rank - ((size_t)rank == rank)] * j->tick_ns / 1e9);
}

// edge is what is read on either side of the window.
struct edge {
	uint64_t tick, cpu, bytes, syscalls, receives, copied;
	struct rusage use;
};

static void read_edge(const struct job *j, struct edge *e)
{
	getrusage(RUSAGE_THREAD, &e->use);
	e->bytes = j->bytes, e->syscalls = j->syscalls, e->receives = j->receives, e->copied = j->copied;
	e->cpu = cpu_ns();
	e->tick = now(j);
}

static void answer(struct job *j, const struct edge *a, const struct edge *z)
{
	double ns = (double)(z->tick - a->tick) * j->tick_ns, n = (double)j->messages;
	long faults = z->use.ru_minflt - a->use.ru_minflt;
	unsigned long long syscalls = z->syscalls - a->syscalls, receives = z->receives - a->receives;
	struct text id = find(j->trial, "id");
	qsort(j->latency, (size_t)j->messages, sizeof *j->latency, ascending);
	dprintf(ANSWER_FD, "{\"schema\":1,\"trial\":%.*s,\"status\":\"ok\"", (int)id.len, id.at);
	dprintf(ANSWER_FD, ",\"fingerprint\":{\"ops\":%llu,\"bytes\":%llu,\"sum\":\"%llu\"}",
		(unsigned long long)j->got, (unsigned long long)j->bytes, (unsigned long long)j->sum);
	dprintf(ANSWER_FD, ",\"window\":{\"ns\":%.0f,\"minor_faults\":%ld,\"major_faults\":%ld,\"syscalls\":%llu,\"voluntary_switches\":%ld,\"involuntary_switches\":%ld,\"steal_ns\":0}",
		ns, faults, z->use.ru_majflt - a->use.ru_majflt, syscalls, z->use.ru_nvcsw - a->use.ru_nvcsw, z->use.ru_nivcsw - a->use.ru_nivcsw);
	// Metrics of every purpose: those of other trials than this one are passed over.
	dprintf(ANSWER_FD, ",\"metrics\":{\"messages_per_s\":{\"v\":%.9g},\"bytes_per_s\":{\"v\":%.9g},\"cpu_per_msg\":{\"v\":%.9g}",
		n / ns * 1e9, (double)(z->bytes - a->bytes) / ns * 1e9, (double)(z->cpu - a->cpu) / n / 1e9);
	dprintf(ANSWER_FD, ",\"syscalls\":{\"num\":%llu,\"den\":%lld},\"receives\":{\"num\":%llu,\"den\":%lld},\"minor_faults\":{\"num\":%ld,\"den\":%lld}",
		syscalls, j->messages, receives, j->messages, faults, j->messages);
	dprintf(ANSWER_FD, ",\"copied_bytes\":{\"num\":%llu,\"den\":%lld}", (unsigned long long)(z->copied - a->copied), j->messages);
	percentile(j, "latency_p50", .5);
	percentile(j, "latency_p90", .9);
	percentile(j, "latency_p99", .99);
	dprintf(ANSWER_FD, "}}\n");
}

int main(void)
{
	static struct job j;
	struct edge a, z;
	j.trial = read_trial();
	if (!j.trial || !is(j.trial, "workload.kind", "receive"))
		fail(j.trial ? j.trial : "", "this adapter is for kind receive");
	if (number(j.trial, "workload.hold_messages", 0) || number(j.trial, "workload.hold_ns", 0))
		skip(j.trial, "this adapter uses a message where it was read to and cannot hold it", "leave hold out of the workload");
	int epoll = prepare(&j);
	receive(&j, epoll, (uint64_t)j.warmup);
	window("zc_window_begin");
	read_edge(&j, &a);
	publish(&j, 2, 1); // ready for the window
	receive(&j, epoll, (uint64_t)(j.warmup + j.messages));
	read_edge(&j, &z);
	window("zc_window_end");
	answer(&j, &a, &z);
	return 0;
}

// What an adapter in C needs of the trial protocol: reading the Trial from
// standard input, a counting window, and a Record on file descriptor 3. Copy it.
// The protocol is described in ../record/protocol.schema.json.
#ifndef ZC_TRIAL_H
#define ZC_TRIAL_H

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_FD = 3, PROGRESS_FD = 4 };

// text is a piece of the Trial's JSON, as it stands there.
struct text {
	const char *at;
	size_t len;
};

static const char *skip_space(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

// skip_value returns the end of the value at p: of a string, of what brackets
// hold, or of a plain word.
static const char *skip_value(const char *p)
{
	int depth = 0;
	do {
		p = skip_space(p);
		if (*p == '"') {
			for (p++; *p && *p != '"'; p++)
				if (*p == '\\' && p[1])
					p++;
			p += *p == '"';
		} else if (*p == '{' || *p == '[') {
			depth++, p++;
		} else if (*p == '}' || *p == ']') {
			depth--, p++;
		} else if (*p == ',' || *p == ':') {
			p++;
		} else if (*p) {
			p += strcspn(p, ",:]} \t\r\n");
		}
	} while (*p && depth > 0);
	return p;
}

// find returns the value of a path such as "workload.load.mode"; its length is 0
// where there is none.
static struct text find(const char *json, const char *path)
{
	const char *p = skip_space(json);
	size_t key = strcspn(path, ".");
	if (*p != '{')
		return (struct text){p, 0};
	for (p = skip_space(p + 1); *p == '"'; p = skip_space(p)) {
		const char *name = p, *end = skip_value(p);
		p = skip_space(end);
		p = skip_space(p + (*p == ':'));
		const char *value = p;
		p = skip_value(p);
		if ((size_t)(end - name) == key + 2 && !strncmp(name + 1, path, key))
			return path[key] ? find(value, path + key + 1) : (struct text){value, (size_t)(p - value)};
		p = skip_space(p);
		p += *p == ',';
	}
	return (struct text){p, 0};
}

static long long number(const char *trial, const char *path, long long absent)
{
	struct text t = find(trial, path);
	return t.len ? strtoll(t.at, NULL, 10) : absent;
}

static int is(const char *trial, const char *path, const char *word)
{
	struct text t = find(trial, path);
	return t.len == strlen(word) + 2 && !strncmp(t.at + 1, word, t.len - 2);
}

// read_trial returns all of standard input.
static char *read_trial(void)
{
	size_t len = 0, room = 1 << 16;
	char *all = malloc(room);
	for (ssize_t n; all && (n = read(0, all + len, room - len - 1)) > 0;) {
		len += (size_t)n;
		if (room - len < 1 << 15)
			all = realloc(all, room *= 2);
	}
	if (all)
		all[len] = 0;
	return all;
}

// The counting shim is preloaded in counting trials only.
static void window(const char *edge)
{
	void (*call)(void);
	*(void **)&call = dlsym(RTLD_DEFAULT, edge);
	if (call)
		call();
}

// fail ends the trial with a record that says why.
static void __attribute__((noreturn, format(printf, 2, 3))) fail(const char *trial, const char *why, ...)
{
	struct text id = find(trial, "id");
	char text[512];
	va_list args;
	va_start(args, why);
	vsnprintf(text, sizeof text, why, args);
	va_end(args);
	for (char *p = text; *p; p++)
		if (*p == '"' || *p == '\\' || *p < ' ')
			*p = '\'';
	dprintf(ANSWER_FD, "{\"schema\":1,\"trial\":%.*s,\"status\":\"failed\",\"error\":\"%s\"}\n", (int)id.len, id.at, text);
	exit(0);
}

// skip ends a trial that cannot be measured here; remedy is what to do about it.
static void __attribute__((noreturn, unused)) skip(const char *trial, const char *reason, const char *remedy)
{
	struct text id = find(trial, "id");
	dprintf(ANSWER_FD, "{\"schema\":1,\"trial\":%.*s,\"status\":\"skipped\",\"error\":\"%s\",\"remedy\":\"%s\"}\n",
		(int)id.len, id.at, reason, remedy);
	exit(0);
}

#endif

//go:build cgo && !noverbs

// When the caller's buffer is really read.

#include "zc.h"
#ifdef ZC_HEADERS
#include "hot.h"

#include <string.h>

static void change(const struct zc_change *c, int now)
{
	if (c->when == now)
		memcpy(c->at, c->to, c->len); // a call, by -fno-builtin-memcpy: it stays where it is
}

int zc_changed(enum zc_kind kind, struct zc_lane *l, struct zc_full *f, const struct zc_change *c, struct zc_done *d)
{
	const struct zc_steps *s = zc_steps_of(kind);
	f->wrong_len = 0;
	change(c, ZC_BEFORE_BUILD);
	s->build(l);
	change(c, ZC_AFTER_BUILD);
	int err = s->post(l);
	change(c, ZC_AFTER_POST);
	*d = (struct zc_done){.err = err, .bad = l->bad};
	int why = ZC_ERRNO;
	if (!err && !zc_full_receives(f, 1, d))
		why = zc_full_await(f, l, 1);
	change(c, ZC_AFTER_COMPLETION);
	s->drop(l);
	zc_lane_release(l);
	return why;
}

#endif

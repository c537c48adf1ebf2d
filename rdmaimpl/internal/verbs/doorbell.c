//go:build cgo && !noverbs

// Suppressing the doorbell of soft-RoCE.
//
// librxe tells the kernel of new send requests by one write(2) to the device's
// file. In a guest that call costs a thousand times what the post itself does.
// Replacing write in the provider's own table of imported functions, and
// nowhere else, leaves its post as it is but for that call. What was posted is
// then never sent: the queue pair is reset afterwards.

#include "zc.h"
#ifdef ZC_HEADERS
#include "libs.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define RELOC_IS_CALL(info) (ELF64_R_TYPE(info) == R_X86_64_JUMP_SLOT || ELF64_R_TYPE(info) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define RELOC_IS_CALL(info) (ELF64_R_TYPE(info) == R_AARCH64_JUMP_SLOT || ELF64_R_TYPE(info) == R_AARCH64_GLOB_DAT)
#else
#define RELOC_IS_CALL(info) 0
#endif

static int doorbell_fd = -1;
static uint64_t swallowed;

static ssize_t swallow(int fd, const void *buf, size_t n)
{
	if (fd != doorbell_fd)
		return write(fd, buf, n);
	swallowed++;
	return n;
}

struct search {
	const char *path;
	void **slot;   // the provider's pointer to write
	int protect;   // it lies in memory made read-only after loading
};

static uintptr_t absolute(const struct dl_phdr_info *o, ElfW(Addr) at)
{
	return at < o->dlpi_addr ? o->dlpi_addr + at : at; // glibc relocates these entries
}

static void look(const struct dl_phdr_info *o, struct search *s, const ElfW(Rela) *rel, size_t bytes, const ElfW(Sym) *syms, const char *names)
{
	for (size_t i = 0; rel && i < bytes / sizeof *rel; i++)
		if (RELOC_IS_CALL(rel[i].r_info) && !strcmp(names + syms[ELF64_R_SYM(rel[i].r_info)].st_name, "write"))
			s->slot = (void **)(o->dlpi_addr + rel[i].r_offset);
}

static void search_dynamic(const struct dl_phdr_info *o, const ElfW(Dyn) *dyn, struct search *s)
{
	const ElfW(Sym) *syms = NULL;
	const ElfW(Rela) *plt = NULL, *rela = NULL;
	const char *names = NULL;
	size_t plt_bytes = 0, rela_bytes = 0;
	for (; dyn->d_tag != DT_NULL; dyn++)
		switch (dyn->d_tag) {
		case DT_SYMTAB: syms = (void *)absolute(o, dyn->d_un.d_ptr); break;
		case DT_STRTAB: names = (void *)absolute(o, dyn->d_un.d_ptr); break;
		case DT_JMPREL: plt = (void *)absolute(o, dyn->d_un.d_ptr); break;
		case DT_PLTRELSZ: plt_bytes = dyn->d_un.d_val; break;
		case DT_RELA: rela = (void *)absolute(o, dyn->d_un.d_ptr); break;
		case DT_RELASZ: rela_bytes = dyn->d_un.d_val; break;
		}
	if (!syms || !names)
		return;
	look(o, s, plt, plt_bytes, syms, names);
	if (!s->slot)
		look(o, s, rela, rela_bytes, syms, names);
}

static int search_object(struct dl_phdr_info *o, size_t size, void *arg)
{
	struct search *s = arg;
	(void)size;
	if (!o->dlpi_name || strcmp(o->dlpi_name, s->path))
		return 0;
	for (int i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_DYNAMIC)
			search_dynamic(o, (void *)(o->dlpi_addr + o->dlpi_phdr[i].p_vaddr), s);
	for (int i = 0; i < o->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &o->dlpi_phdr[i];
		uintptr_t lo = o->dlpi_addr + ph->p_vaddr, at = (uintptr_t)s->slot;
		if (ph->p_type == PT_GNU_RELRO && at >= lo && at < lo + ph->p_memsz)
			s->protect = 1;
	}
	return 1;
}

static int rings_by_write(const char *provider)
{
	const char *slash = strrchr(provider, '/');
	return !strncmp(slash ? slash + 1 : provider, "librxe", 6);
}

static int set_slot(const struct search *found, void *to)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), lo = (uintptr_t)found->slot & ~(page - 1);
	if (found->protect && mprotect((void *)lo, page, PROT_READ | PROT_WRITE))
		return errno;
	*found->slot = to;
	return found->protect && mprotect((void *)lo, page, PROT_READ) ? errno : 0;
}

int zc_doorbell_suppress(struct zc_device *d, int on)
{
	static struct search found;
	static void *original;
	if (!rings_by_write(d->provider))
		return ENOTSUP;
	if (!found.slot) {
		struct search s = {.path = d->provider};
		dl_iterate_phdr(search_object, &s);
		if (!s.slot)
			return ENOTSUP;
		found = s;
		original = *s.slot;
	}
	doorbell_fd = on ? ((struct ibv_context *)d->ctx)->cmd_fd : -1;
	return set_slot(&found, on ? (void *)swallow : original);
}

uint64_t zc_doorbells_swallowed(void)
{
	return swallowed;
}

#endif

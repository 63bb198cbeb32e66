/* SPDX-License-Identifier: Apache-2.0
   The shim's coroutines: their stacks, and the switch between a coroutine and the scheduler, by a few instructions on
   known processors and by ucontext elsewhere. AddressSanitizer is told of each switch. */
#include "cuda/shim/shim_engine.h"

#include <stdarg.h>
#include <sys/mman.h>

namespace shim {

__thread engine *own;

#ifndef HU_UCONTEXT
/* Saves the callee-saved registers on the stack, and the stack pointer in *from; continues at to. */
extern "C" void hu_shim_switch(void **from, void *to);
__asm__(".text\n.globl hu_shim_switch\n.hidden hu_shim_switch\n.type hu_shim_switch,@function\nhu_shim_switch:\n"
        "\tpushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n"
        "\tmovq %rsp, (%rdi)\n\tmovq %rsi, %rsp\n"
        "\tpopq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret\n"
        ".size hu_shim_switch,.-hu_shim_switch\n");
#endif

void
to_main(engine *e)
{
	fiber *f = &e->fibers[e->threads[e->running].fiber];

#ifdef HU_ASAN
	__sanitizer_start_switch_fiber(&f->fake, e->main_bottom, e->main_size);
#endif
#ifdef HU_UCONTEXT
	swapcontext(&f->context, &e->main);
#else
	hu_shim_switch(&f->sp, e->main_sp);
#endif
#ifdef HU_ASAN
	__sanitizer_finish_switch_fiber(f->fake, &e->main_bottom, &e->main_size);
#endif
}

/* What a coroutine runs: threads, one after another. */
static void
live(void)
{
	engine *e = own;

#ifdef HU_ASAN
	__sanitizer_finish_switch_fiber(NULL, &e->main_bottom, &e->main_size);
#endif
	for (;;) {
		e->body(e->arg);
		e->threads[e->running].state = DONE;
		to_main(e);
	}
}

void
to_fiber(engine *e, fiber *f)
{
#ifdef HU_ASAN
	__sanitizer_start_switch_fiber(&e->main_fake, f->stack, STACK);
#endif
#ifdef HU_UCONTEXT
	if (!f->live) {
		getcontext(&f->context);
		f->context.uc_stack.ss_sp = f->stack;
		f->context.uc_stack.ss_size = STACK;
		f->context.uc_link = NULL;
		makecontext(&f->context, live, 0);
	}
	f->live = 1;
	swapcontext(&e->main, &f->context);
#else
	if (!f->live) {
		/* The stacks' tops have different offsets in their pages; otherwise they would all share a few cache
		   lines. */
		void **top = (void **)(f->stack + STACK - (size_t)(f - e->fibers) % 61 * 192);
		*--top = NULL; /* the return address of live(), which never returns; it keeps 16-byte alignment */
		*--top = (void *)live;
		for (int i = 0; i < 6; i++)
			*--top = NULL;
		f->sp = top;
	}
	f->live = 1;
	hu_shim_switch(&e->main_sp, f->sp);
#endif
#ifdef HU_ASAN
	__sanitizer_finish_switch_fiber(e->main_fake, NULL, NULL);
#endif
}

void
stop(engine *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->reason, sizeof e->reason, fmt, ap);
	va_end(ap);
	for (;;)
		to_main(e);
}

fiber *
take_fiber(engine *e, int *number)
{
	if (!e->nidle) {
		fiber *f = &e->fibers[e->nfibers];
		if (!f->stack) {
			unsigned char *p = (unsigned char *)mmap(NULL, STACK + 4096, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
			if (p == MAP_FAILED)
				return NULL;
			mprotect(p, 4096, PROT_NONE);
			f->stack = p + 4096;
		}
		e->idle[e->nidle++] = e->nfibers++;
	}
	*number = e->idle[--e->nidle];
	return &e->fibers[*number];
}

void
forget(engine *e)
{
	for (int i = 0; i < e->nfibers; i++) {
		e->fibers[i].live = 0;
#ifdef HU_ASAN
		__asan_unpoison_memory_region(e->fibers[i].stack, STACK);
#endif
	}
	e->nidle = 0;
	for (int i = e->nfibers - 1; i >= 0; i--)
		e->idle[e->nidle++] = i;
}

} /* namespace shim */

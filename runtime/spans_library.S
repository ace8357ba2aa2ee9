/* Around a function of any library: record the call, make it, record its end. The arguments in
 * registers and the first words on the stack are passed on, and all return values are passed back.
 *
 * r11 is the number of the function (set by the piece of code that led here). The frame is an
 * ordinary one, so that exceptions and longjmp() pass through it.
 */
#if defined(__x86_64__)
	.set	WORDS, 16		/* of the stack that are copied */
	.set	SAVE, 0xc0		/* 6 integer and 8 vector registers, al, the number */
	.text
	.globl	spans_library_enter
	.hidden	spans_library_enter
	.type	spans_library_enter, @function
spans_library_enter:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	push	%rbx
	.cfi_offset %rbx, -24
	sub	$(SAVE + 8), %rsp
	mov	%rdi, 0x00(%rsp)
	mov	%rsi, 0x08(%rsp)
	mov	%rdx, 0x10(%rsp)
	mov	%rcx, 0x18(%rsp)
	mov	%r8, 0x20(%rsp)
	mov	%r9, 0x28(%rsp)
	mov	%rax, 0x30(%rsp)
	mov	%r11, 0x38(%rsp)
	movups	%xmm0, 0x40(%rsp)
	movups	%xmm1, 0x50(%rsp)
	movups	%xmm2, 0x60(%rsp)
	movups	%xmm3, 0x70(%rsp)
	movups	%xmm4, 0x80(%rsp)
	movups	%xmm5, 0x90(%rsp)
	movups	%xmm6, 0xa0(%rsp)
	movups	%xmm7, 0xb0(%rsp)
	mov	%r11, %rdi
	mov	%rsp, %rsi
	call	spans_library_begin
	mov	%rax, %rbx		/* the record */
	mov	0x38(%rsp), %rdi
	call	spans_library_function
	mov	%rax, %r11
	mov	0x00(%rsp), %rdi
	mov	0x08(%rsp), %rsi
	mov	0x10(%rsp), %rdx
	mov	0x18(%rsp), %rcx
	mov	0x20(%rsp), %r8
	mov	0x28(%rsp), %r9
	mov	0x30(%rsp), %rax
	movups	0x40(%rsp), %xmm0
	movups	0x50(%rsp), %xmm1
	movups	0x60(%rsp), %xmm2
	movups	0x70(%rsp), %xmm3
	movups	0x80(%rsp), %xmm4
	movups	0x90(%rsp), %xmm5
	movups	0xa0(%rsp), %xmm6
	movups	0xb0(%rsp), %xmm7
	mov	0x38(%rsp), %r10	/* the number, for the end */
	mov	%r10, SAVE(%rsp)
	.set	i, WORDS
	.rept	WORDS
	.set	i, i - 1
	push	(16 + 8 * i)(%rbp)
	.endr
	call	*%r11
	add	$(8 * WORDS), %rsp
	mov	%rax, 0x00(%rsp)
	mov	%rdx, 0x08(%rsp)
	movups	%xmm0, 0x40(%rsp)
	movups	%xmm1, 0x50(%rsp)
	mov	%rbx, %rdi
	mov	%rax, %rsi
	mov	SAVE(%rsp), %rdx
	call	spans_library_end
	mov	0x00(%rsp), %rax
	mov	0x08(%rsp), %rdx
	movups	0x40(%rsp), %xmm0
	movups	0x50(%rsp), %xmm1
	mov	-8(%rbp), %rbx
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	spans_library_enter, . - spans_library_enter
#endif
	.section .note.GNU-stack, "", %progbits

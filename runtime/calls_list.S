/* Linked into what `limpet cc --functions` builds: the list itself, as it is (calls_list.h). */
	.section .rodata.limpet_calls_list, "a"
	.globl limpet_calls_list_begin
	.hidden limpet_calls_list_begin
	.globl limpet_calls_list_end
	.hidden limpet_calls_list_end
limpet_calls_list_begin:
	.incbin LIMPET_CALLS_LIST
limpet_calls_list_end:
	.byte 0
	.section .note.GNU-stack, "", %progbits

// What RP2350's ROM looks for in the first 4 KB of flash: an executable for Arm, in secure state, that begins with its vectors.
// RP2350 Datasheet, Minimum viable image metadata.
    .section .boot, "a", %progbits
    .balign 4
    .word 0xFFFFDED3  // block's begin
    .word 0x10210142  // IMAGE_TYPE, 1 word: EXE, secure, Arm, RP2350
    .word 0x000001FF  // last item; 1 word before it
    .word 0x00000000  // the next block: this one
    .word 0xAB123579  // block's end

// RP2040's ROM copies the first 256 bytes of flash to RAM, checks their CRC and runs them (RP2040 Datasheet). They let the
// flash be read as memory: by the command 03h, which every serial flash has, at clk_sys / 4 (chapter on the SSI). Then
// the image begins as after a reset.
    .syntax unified
    .cpu cortex-m0plus
    .thumb
    .section .boot2, "ax", %progbits
    .global boot2
boot2:
    ldr  r3, =0x18000000  // XIP_SSI
    movs r0, #0
    str  r0, [r3, #0x08]  // SSIENR: off while it is changed
    str  r0, [r3, #0x04]  // CTRLR1: frames of 32 bits, one a read
    movs r0, #4
    str  r0, [r3, #0x14]  // BAUDR
    ldr  r0, =(3 << 8) | (31 << 16)
    str  r0, [r3, #0x00]  // CTRLR0: TMOD EEPROM read, DFS_32 32 bits
    ldr  r0, =(0x03 << 24) | (2 << 8) | (6 << 2)
    movs r1, #0xF4
    str  r0, [r3, r1]     // SPI_CTRLR0: command 03h of 8 bits, 24 bits of address, all on one line
    movs r0, #1
    str  r0, [r3, #0x08]  // SSIENR: on
    ldr  r0, =0x10000100  // the vectors
    ldr  r1, =0xE000ED08
    str  r0, [r1]         // VTOR
    ldm  r0!, {r1, r2}
    msr  msp, r1
    bx   r2
    .ltorg
    .org 252, 0
    .word 0x1B73F2D0  // CRC-32 of the 252 bytes before, from the highest bit on, begun with ones (tests/firmware/test_targets.py)

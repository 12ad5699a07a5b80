#include "textflag.h"

DATA reversed64<>+0(SB)/8, $0x0001020304050607
DATA reversed64<>+8(SB)/8, $0x08090a0b0c0d0e0f
GLOBL reversed64<>(SB), RODATA|NOPTR, $16
DATA reversed128<>+0(SB)/8, $0x08090a0b0c0d0e0f
DATA reversed128<>+8(SB)/8, $0x0001020304050607
GLOBL reversed128<>(SB), RODATA|NOPTR, $16
DATA lowNibbles<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA lowNibbles<>+8(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL lowNibbles<>(SB), RODATA|NOPTR, $16

// Each nibble with its bits reversed, as the lower nibble and as the higher one.
DATA toLow<>+0(SB)/8, $0x0e060a020c040800
DATA toLow<>+8(SB)/8, $0x0f070b030d050901
GLOBL toLow<>(SB), RODATA|NOPTR, $16
DATA toHigh<>+0(SB)/8, $0xe060a020c0408000
DATA toHigh<>+8(SB)/8, $0xf070b030d0509010
GLOBL toHigh<>(SB), RODATA|NOPTR, $16

// REVERSE reverses the bits of X after its bytes were put in the ORDER. T and U are
// overwritten.
#define REVERSE(ORDER, X, T, U) \
	VPSHUFB ORDER, X, X             \
	VPSRLW  $4, X, T                \
	VPAND   lowNibbles<>(SB), T, T  \
	VPAND   lowNibbles<>(SB), X, X  \
	VMOVDQU toLow<>(SB), U          \
	VPSHUFB T, U, T                 \
	VMOVDQU toHigh<>(SB), U         \
	VPSHUFB X, U, X                 \
	VPOR    T, X, X

// SIDE64 goes through the amazons in AX. Y8 and Y9 are the occupied squares and the
// same reversed, Y10 is all ones. X11 becomes the squares in reach: upwards, and
// downwards reversed.
#define SIDE64(AGAIN, DONE) \
	VPXOR X11, X11, X11          \
AGAIN: \
	TESTQ AX, AX                 \
	JZ    DONE                   \
	BSFQ  AX, BX                 \
	LEAQ  -1(AX), CX             \
	ANDQ  CX, AX                 \
	MOVQ  BX, DX                 \
	SHLQ  $6, DX                 \
	VMOVDQU 0(SI)(DX*1), Y0      \
	VMOVDQU 32(SI)(DX*1), Y1     \
	VPAND  Y8, Y0, Y2            \
	VPAND  Y9, Y1, Y3            \
	VPADDQ Y10, Y2, Y4           \
	VPADDQ Y10, Y3, Y5           \
	VPANDN Y4, Y2, Y2            \
	VPANDN Y5, Y3, Y3            \
	VPAND  Y0, Y2, Y2            \
	VPAND  Y1, Y3, Y3            \
	VPUNPCKLQDQ Y3, Y2, Y0       \
	VPUNPCKHQDQ Y3, Y2, Y1       \
	VPOR   Y0, Y1, Y0            \
	VEXTRACTI128 $1, Y0, X1      \
	VPOR   X1, X0, X0            \
	VPOR   X0, X11, X11          \
	VMOVQ  X0, R9                \
	VPEXTRQ $1, X0, R10          \
	POPCNTQ R9, R9               \
	POPCNTQ R10, R10             \
	ADDQ   R10, R9               \
	MOVB   R9, (R8)(BX*1)        \
	JMP    AGAIN                 \
DONE: \
	VPUNPCKHQDQ X11, X11, X0     \
	REVERSE(reversed64<>(SB), X0, X1, X2) \
	VPOR   X0, X11, X11

// func queenMoves64AVX2(rays *rays64, free, a, b uint64, moves *uint8) (ra, rb uint64)
TEXT ·queenMoves64AVX2(SB), NOSPLIT, $0-56
	MOVQ rays+0(FP), SI
	MOVQ moves+32(FP), R8
	MOVQ free+8(FP), AX
	NOTQ AX
	VMOVQ AX, X8
	VMOVDQA X8, X9
	REVERSE(reversed64<>(SB), X9, X0, X1)
	VPBROADCASTQ X8, Y8
	VPBROADCASTQ X9, Y9
	VPCMPEQQ Y10, Y10, Y10

	MOVQ a+16(FP), AX
	SIDE64(againA, doneA)
	VMOVQ X11, ra+40(FP)
	MOVQ b+24(FP), AX
	SIDE64(againB, doneB)
	VMOVQ X11, rb+48(FP)
	VZEROUPPER
	RET

// HALF128 follows four of the rays at DX, whose words are at LO and HI, up to the first
// of the occupied squares OLO, OHI. It leaves the free squares' words in A and B, and
// adds them to UNION. Y12 is all ones, Y13 zero.
#define HALF128(LO, HI, OLO, OHI, UNION, A, B) \
	VMOVDQU LO(DX), Y0          \
	VMOVDQU HI(DX), Y1          \
	VPAND  OLO, Y0, Y2          \
	VPAND  OHI, Y1, Y3          \
	VPCMPEQQ Y13, Y2, Y4        \
	VPADDQ Y12, Y2, Y5          \
	VPADDQ Y4, Y3, Y4           \
	VPANDN Y5, Y2, Y2           \
	VPANDN Y4, Y3, Y3           \
	VPAND  Y0, Y2, Y2           \
	VPAND  Y1, Y3, Y3           \
	VPUNPCKLQDQ Y3, Y2, Y0      \
	VPUNPCKHQDQ Y3, Y2, Y1      \
	VPOR   Y0, Y1, Y0           \
	VEXTRACTI128 $1, Y0, X1     \
	VPOR   X1, X0, X0           \
	VPOR   X0, UNION, UNION     \
	VMOVQ  X0, A                \
	VPEXTRQ $1, X0, B

// WORD128 goes through the amazons in AX, whose lowest square is BASE.
#define WORD128(BASE, AGAIN, DONE) \
AGAIN: \
	TESTQ AX, AX                 \
	JZ    DONE                   \
	BSFQ  AX, BX                 \
	LEAQ  -1(AX), CX             \
	ANDQ  CX, AX                 \
	MOVQ  BX, DX                 \
	SHLQ  $7, DX                 \
	LEAQ  (BASE*128)(SI)(DX*1), DX \
	HALF128(0, 32, Y8, Y9, X14, R9, R10)     \
	HALF128(64, 96, Y10, Y11, X15, R11, R12) \
	POPCNTQ R9, R9               \
	POPCNTQ R10, R10             \
	POPCNTQ R11, R11             \
	POPCNTQ R12, R12             \
	ADDQ   R10, R9               \
	ADDQ   R12, R11              \
	ADDQ   R11, R9               \
	MOVB   R9, BASE(R8)(BX*1)    \
	JMP    AGAIN                 \
DONE:

// SIDE128 gathers the squares in reach in X14.
#define GATHERREACH128 \
	REVERSE(reversed128<>(SB), X15, X0, X1) \
	VPOR   X15, X14, X14

// func queenMoves128AVX2(rays *rays128, free, a, b rules.Bits, moves *uint8) (ra, rb rules.Bits)
TEXT ·queenMoves128AVX2(SB), NOSPLIT, $0-96
	MOVQ rays+0(FP), SI
	MOVQ moves+56(FP), R8
	VPCMPEQQ Y12, Y12, Y12
	VPXOR Y13, Y13, Y13
	VPXOR free_Lo+8(FP), X12, X8
	VMOVDQA X8, X10
	REVERSE(reversed128<>(SB), X10, X0, X1)
	VPUNPCKHQDQ X8, X8, X9
	VPUNPCKHQDQ X10, X10, X11
	VPBROADCASTQ X8, Y8
	VPBROADCASTQ X9, Y9
	VPBROADCASTQ X10, Y10
	VPBROADCASTQ X11, Y11

	VPXOR X14, X14, X14
	VPXOR X15, X15, X15
	MOVQ a_Lo+24(FP), AX
	WORD128(0, againALo, doneALo)
	MOVQ a_Hi+32(FP), AX
	WORD128(64, againAHi, doneAHi)
	GATHERREACH128
	VMOVDQU X14, ra_Lo+64(FP)

	VPXOR X14, X14, X14
	VPXOR X15, X15, X15
	MOVQ b_Lo+40(FP), AX
	WORD128(0, againBLo, doneBLo)
	MOVQ b_Hi+48(FP), AX
	WORD128(64, againBHi, doneBHi)
	GATHERREACH128
	VMOVDQU X14, rb_Lo+80(FP)
	VZEROUPPER
	RET

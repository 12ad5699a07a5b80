#include "textflag.h"

// ACTIVATE makes activations of the sums of rows in X: Y15 is 0, Y14 rowOne.
#define ACTIVATE(X) \
	VPSRAW  $2, X, X   \
	VPMAXSW Y15, X, X  \
	VPMINSW Y14, X, X

// func applyAVX2(points, rows, sum, before *lanes, changes *rowChange, n int, stone uint64)
TEXT ·applyAVX2(SB), NOSPLIT, $0-56
	MOVQ points+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ sum+16(FP), DX
	MOVQ before+24(FP), R8
	MOVQ changes+32(FP), R9
	MOVQ n+40(FP), CX
	MOVQ stone+48(FP), AX

	VMOVDQU  0(DX), Y0
	VMOVDQU  32(DX), Y1
	VPXOR    Y15, Y15, Y15
	VPCMPEQW Y14, Y14, Y14
	VPSRLW   $9, Y14, Y14

	SHLQ    $6, AX
	VMOVDQU 0(DI)(AX*1), Y2
	VMOVDQU 32(DI)(AX*1), Y3
	ACTIVATE(Y2)
	ACTIVATE(Y3)
	VPSUBW  Y2, Y0, Y0
	VPSUBW  Y3, Y1, Y1

next:
	MOVL 0(R9), AX
	MOVL 4(R9), BX
	MOVL 8(R9), R10
	SHLQ $6, AX
	SHLQ $6, BX
	SHLQ $6, R10

	VMOVDQU 0(DI)(AX*1), Y2
	VMOVDQU 32(DI)(AX*1), Y3
	VMOVDQU Y2, 0(R8)
	VMOVDQU Y3, 32(R8)
	VPADDW  0(SI)(BX*1), Y2, Y4
	VPADDW  32(SI)(BX*1), Y3, Y5
	VPSUBW  0(SI)(R10*1), Y4, Y4
	VPSUBW  32(SI)(R10*1), Y5, Y5
	VMOVDQU Y4, 0(DI)(AX*1)
	VMOVDQU Y5, 32(DI)(AX*1)
	ACTIVATE(Y2)
	ACTIVATE(Y3)
	ACTIVATE(Y4)
	ACTIVATE(Y5)
	VPADDW  Y4, Y0, Y0
	VPADDW  Y5, Y1, Y1
	VPSUBW  Y2, Y0, Y0
	VPSUBW  Y3, Y1, Y1

	ADDQ $64, R8
	ADDQ $12, R9
	DECQ CX
	JNZ  next

	VMOVDQU Y0, 0(DX)
	VMOVDQU Y1, 32(DX)
	VZEROUPPER
	RET

// func restoreAVX2(points, before *lanes, changes *rowChange, n int)
TEXT ·restoreAVX2(SB), NOSPLIT, $0-32
	MOVQ points+0(FP), DI
	MOVQ before+8(FP), R8
	MOVQ changes+16(FP), R9
	MOVQ n+24(FP), CX

next:
	MOVL    0(R9), AX
	SHLQ    $6, AX
	VMOVDQU 0(R8), Y0
	VMOVDQU 32(R8), Y1
	VMOVDQU Y0, 0(DI)(AX*1)
	VMOVDQU Y1, 32(DI)(AX*1)
	ADDQ    $64, R8
	ADDQ    $12, R9
	DECQ    CX
	JNZ     next
	VZEROUPPER
	RET

// PAIR adds the products of the two inputs at OFF(SP) to the 32 neurons in Y0 to Y3.
#define PAIR(K) \
	VPBROADCASTD in-64+4*K(SP), Y4          \
	VPMADDWD     128*K+0(SI), Y4, Y5     \
	VPMADDWD     128*K+32(SI), Y4, Y6    \
	VPMADDWD     128*K+64(SI), Y4, Y7    \
	VPMADDWD     128*K+96(SI), Y4, Y8    \
	VPADDD       Y5, Y0, Y0              \
	VPADDD       Y6, Y1, Y1              \
	VPADDD       Y7, Y2, Y2              \
	VPADDD       Y8, Y3, Y3

// OUTPUT divides the neurons in X by 8 where they are below 0, and adds their products with the
// eight numbers at OFF(SI) to the 64-bit sums in Y9.
#define OUTPUT(X, OFF) \
	VPSRAD  $3, X, Y4   \
	VPMAXSD Y4, X, X    \
	VMOVDQU OFF(SI), Y4 \
	VPMULDQ Y4, X, Y5   \
	VPSRLQ  $32, X, X   \
	VPSRLQ  $32, Y4, Y4 \
	VPMULDQ Y4, X, Y6   \
	VPADDQ  Y5, Y9, Y9  \
	VPADDQ  Y6, Y9, Y9

// func outputAVX2(layer *hiddenLayer, own, other *int16) int64
TEXT ·outputAVX2(SB), NOSPLIT, $64-32
	MOVQ layer+0(FP), SI
	MOVQ own+8(FP), AX
	MOVQ other+16(FP), BX

	// Sums above 15 bits count as the greatest of these.
	VPCMPEQW Y4, Y4, Y4
	VPSRLW   $1, Y4, Y4
	VPMINUW  0(AX), Y4, Y5
	VPMINUW  0(BX), Y4, Y6
	VMOVDQU  Y5, in-64(SP)
	VMOVDQU  Y6, in-32(SP)

	VMOVDQU 2048(SI), Y0
	VMOVDQU 2080(SI), Y1
	VMOVDQU 2112(SI), Y2
	VMOVDQU 2144(SI), Y3
	PAIR(0)
	PAIR(1)
	PAIR(2)
	PAIR(3)
	PAIR(4)
	PAIR(5)
	PAIR(6)
	PAIR(7)
	PAIR(8)
	PAIR(9)
	PAIR(10)
	PAIR(11)
	PAIR(12)
	PAIR(13)
	PAIR(14)
	PAIR(15)

	VPXOR        Y9, Y9, Y9
	OUTPUT(Y0, 2176)
	OUTPUT(Y1, 2208)
	OUTPUT(Y2, 2240)
	OUTPUT(Y3, 2272)
	VEXTRACTI128 $1, Y9, X4
	VPADDQ       X4, X9, X9
	VPSRLDQ      $8, X9, X4
	VPADDQ       X4, X9, X9
	VMOVQ        X9, AX
	MOVQ         AX, ret+24(FP)
	VZEROUPPER
	RET

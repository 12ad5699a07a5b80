#include "textflag.h"

// Offsets of the arrays of slides.
#define ONE 0
#define TWO 32
#define LAST 64
#define UPLO 96
#define UPHI 128
#define DOWNLO 160
#define DOWNHI 192
#define LASTISTWO 224
#define ONEBACK 256
#define TWOBACK 288
#define LASTBACK 320
#define REPEATS 352

// STEP64 goes a step of SHIFT from the squares G of one word over the free
// squares P.
#define STEP64(OP, SHIFT, P, G, T) \
	OP    SHIFT, G, T \
	VPAND P, T, T     \
	VPOR  T, G, G

// ALL64 is a step of both sides up and down. Y0 and Y1 are the free squares for
// steps up and down, Y2 and Y4 the squares of a, Y3 and Y5 those of b.
#define ALL64(SHIFT) \
	STEP64(VPSLLVQ, SHIFT, Y0, Y2, Y6)  \
	STEP64(VPSLLVQ, SHIFT, Y0, Y3, Y7)  \
	STEP64(VPSRLVQ, SHIFT, Y1, Y4, Y12) \
	STEP64(VPSRLVQ, SHIFT, Y1, Y5, Y13)

// func fill64AVX2(s *slides, free, a, b uint64) (ra, rb uint64)
TEXT ·fill64AVX2(SB), NOSPLIT, $0-48
	MOVQ         s+0(FP), SI
	VPBROADCASTQ free+8(FP), Y0
	VPBROADCASTQ a+16(FP), Y2
	VPBROADCASTQ b+24(FP), Y3
	VMOVDQU      ONE(SI), Y8
	VMOVDQU      TWO(SI), Y9
	VMOVDQU      LAST(SI), Y10
	VMOVDQU      LASTISTWO(SI), Y11
	VPAND        DOWNLO(SI), Y0, Y1
	VPAND        UPLO(SI), Y0, Y0
	VMOVDQA      Y2, Y4
	VMOVDQA      Y3, Y5

	ALL64(Y8)
	VPSLLVQ Y8, Y0, Y6
	VPSRLVQ Y8, Y1, Y7
	VPAND   Y6, Y0, Y0
	VPAND   Y7, Y1, Y1

	ALL64(Y9)
	VPSLLVQ Y9, Y0, Y6
	VPSRLVQ Y9, Y1, Y7
	VPOR    Y11, Y6, Y6
	VPOR    Y11, Y7, Y7
	VPAND   Y6, Y0, Y0
	VPAND   Y7, Y1, Y1

	MOVQ REPEATS(SI), CX

again:
	ALL64(Y10)
	DECQ CX
	JNZ  again

	VPOR         Y4, Y2, Y2
	VPOR         Y5, Y3, Y3
	VPUNPCKLQDQ  Y3, Y2, Y4
	VPUNPCKHQDQ  Y3, Y2, Y5
	VPOR         Y4, Y5, Y4
	VEXTRACTI128 $1, Y4, X5
	VPOR         X5, X4, X4
	VMOVQ        X4, ra+32(FP)
	VPEXTRQ      $1, X4, rb+40(FP)
	VZEROUPPER
	RET

// SHIFTUP is LO, HI << N, as TLO, THI; BACK is 64-N. SHIFTDOWN is LO, HI >> N.
#define SHIFTUP(N, BACK, LO, HI, TLO, THI, T) \
	VPSLLVQ N, LO, TLO    \
	VPSLLVQ N, HI, THI    \
	VPSRLVQ BACK, LO, T   \
	VPOR    T, THI, THI

#define SHIFTDOWN(N, BACK, LO, HI, TLO, THI, T) \
	VPSRLVQ N, LO, TLO    \
	VPSRLVQ N, HI, THI    \
	VPSLLVQ BACK, HI, T   \
	VPOR    T, TLO, TLO

// STEP128 goes a step from the squares LO, HI over the free squares Y0, Y1.
#define STEP128(SHIFT, LO, HI, TLO, THI, T) \
	SHIFT(Y9, Y10, LO, HI, TLO, THI, T) \
	VPAND Y0, TLO, TLO \
	VPAND Y1, THI, THI \
	VPOR  TLO, LO, LO  \
	VPOR  THI, HI, HI

// BOTH128 is a step of a (Y2, Y3) and b (Y4, Y5).
#define BOTH128(SHIFT) \
	STEP128(SHIFT, Y2, Y3, Y6, Y7, Y8)   \
	STEP128(SHIFT, Y4, Y5, Y11, Y12, Y13)

// FILL128 fills in four directions over the free squares Y0, Y1, from a and b at DX.
#define FILL128(SHIFT, AGAIN) \
	VPBROADCASTQ 0(DX), Y2       \
	VPBROADCASTQ 8(DX), Y3       \
	VPBROADCASTQ 16(DX), Y4      \
	VPBROADCASTQ 24(DX), Y5      \
	VMOVDQU ONE(SI), Y9          \
	VMOVDQU ONEBACK(SI), Y10     \
	BOTH128(SHIFT)               \
	SHIFT(Y9, Y10, Y0, Y1, Y6, Y7, Y8) \
	VPAND   Y6, Y0, Y0           \
	VPAND   Y7, Y1, Y1           \
	VMOVDQU TWO(SI), Y9          \
	VMOVDQU TWOBACK(SI), Y10     \
	BOTH128(SHIFT)               \
	SHIFT(Y9, Y10, Y0, Y1, Y6, Y7, Y8) \
	VPOR    LASTISTWO(SI), Y6, Y6 \
	VPOR    LASTISTWO(SI), Y7, Y7 \
	VPAND   Y6, Y0, Y0           \
	VPAND   Y7, Y1, Y1           \
	VMOVDQU LAST(SI), Y9         \
	VMOVDQU LASTBACK(SI), Y10    \
	MOVQ    REPEATS(SI), CX      \
AGAIN: \
	BOTH128(SHIFT) \
	DECQ CX        \
	JNZ  AGAIN

// GATHER128 leaves two of the four lanes' unions: a in the even ones of LO and HI,
// b in the odd ones.
#define GATHER128(LO, HI) \
	VPUNPCKLQDQ Y4, Y2, Y6 \
	VPUNPCKHQDQ Y4, Y2, Y7 \
	VPOR        Y6, Y7, LO \
	VPUNPCKLQDQ Y5, Y3, Y6 \
	VPUNPCKHQDQ Y5, Y3, Y7 \
	VPOR        Y6, Y7, HI

// func fill128AVX2(s *slides, free, a, b rules.Bits) (ra, rb rules.Bits)
TEXT ·fill128AVX2(SB), NOSPLIT, $0-88
	MOVQ         s+0(FP), SI
	LEAQ         a_Lo+24(FP), DX
	VPBROADCASTQ free_Lo+8(FP), Y0
	VPBROADCASTQ free_Hi+16(FP), Y1
	VPAND        UPLO(SI), Y0, Y0
	VPAND        UPHI(SI), Y1, Y1
	FILL128(SHIFTUP, up)
	GATHER128(Y14, Y15)

	VPBROADCASTQ free_Lo+8(FP), Y0
	VPBROADCASTQ free_Hi+16(FP), Y1
	VPAND        DOWNLO(SI), Y0, Y0
	VPAND        DOWNHI(SI), Y1, Y1
	FILL128(SHIFTDOWN, down)
	GATHER128(Y8, Y9)

	VPOR         Y8, Y14, Y14
	VPOR         Y9, Y15, Y15
	VEXTRACTI128 $1, Y14, X0
	VEXTRACTI128 $1, Y15, X1
	VPOR         X0, X14, X0
	VPOR         X1, X15, X1
	VMOVQ        X0, ra_Lo+56(FP)
	VMOVQ        X1, ra_Hi+64(FP)
	VPEXTRQ      $1, X0, rb_Lo+72(FP)
	VPEXTRQ      $1, X1, rb_Hi+80(FP)
	VZEROUPPER
	RET

; Threads below c[0x48] pass named barrier 1, which waits for c[0x4c] threads; then each writes 1.
; parameter pointer out
; parameter u32 comers
; parameter u32 expected
; variable-bytes 00000000000000000000000000000000 00000000000000000000000000000000
; named-barriers 0x100
        MOV  R0, SR_THREAD
        ISETP.GE.U32 P0, R0, c[0x48]
@P0     EXIT
        MOV  R1, 1
        MOV  R2, c[0x4c]
        MOV  R3, 0x110
        RED.ADD [R3], R1
        ST   [R3+4], R2
wait:   BAR.NAMED
        LD   R4, [R3+8]
        ISETP.EQ P1, R4, 0
@P1     BRA  wait
        SHL  R5, R0, 2
        IADD R5, R5, c[0x40]
        ST   [R5], R1
        EXIT

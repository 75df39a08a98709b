; The first thread spins until the last one has set the flag, and then writes 7 behind it.
; parameter pointer flag
        MOV  R0, c[0x40]
        MOV  R1, SR_THREAD
        IADD R2, R1, 1
        ISETP.EQ P0, R2, c[0x0]
        MOV  R3, 1
@P0     ST   [R0], R3
        ISETP.NE P1, R1, 0
@P1     EXIT
again:  YIELD
        LD   R4, [R0]
        ISETP.EQ P2, R4, 0
@P2     BRA  again
        MOV  R5, 7
        ST   [R0+4], R5
        EXIT

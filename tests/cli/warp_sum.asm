; sum[i] = sum of data of the warp of thread i; odd[warp] = which of its data are odd
; parameter pointer data
; parameter pointer sum
; parameter pointer odd
        MOV  R0, SR_THREAD
        SHL  R1, R0, 2
        IADD R2, R1, c[0x40]
        LD   R3, [R2]
        AND  R4, R3, 1
        ISETP.NE P0, R4, 0
        VOTE.PUT P0
        VOTE.GET R4
        WARPSYNC
        MOV  R5, 16
more:   SHFL.PUT R3
        XOR  R6, R0, R5
        SHFL.GET R7, R6
        WARPSYNC
        IADD R3, R3, R7
        SHR.U32 R5, R5, 1
        ISETP.NE P1, R5, 0
@P1     BRA  more
        IADD R1, R1, c[0x48]
        ST   [R1], R3
        MOV  R8, SR_LANEID
        ISETP.EQ P2, R8, 0
        MOV  R9, SR_WARPID
        SHL  R9, R9, 2
        IADD R9, R9, c[0x50]
@P2     ST   [R9], R4
        EXIT

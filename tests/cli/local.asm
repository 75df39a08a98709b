; Each thread keeps its number in local memory of its own: out[i] = i + 1
; parameter pointer out
; local 16
        MOV  R0, SR_THREAD
        SHL  R1, R0, 4
        IADD R1, R1, c[0x30]
        IADD R2, R0, 1
        ST   [R1+12], R2
        LD   R3, [R1+12]
        SHL  R4, R0, 2
        IADD R4, R4, c[0x40]
        ST   [R4], R3
        EXIT

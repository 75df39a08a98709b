; data[i] *= factor
; parameter pointer data
; parameter u32 factor
        MOV  R0, SR_TID.X
        SHL  R0, R0, 2
        IADD R0, R0, c[0x40]
        LD  R1, [R0]
        IMUL R1, R1, c[0x48]
        ST  [R0], R1
        EXIT

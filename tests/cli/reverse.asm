; out[i] = thread number of the block's thread i, last first, by way of shared memory behind `static` bytes
; parameter pointer out
; shared 20
        MOV  R0, SR_THREAD
        SHL  R1, R0, 2
        IADD R2, R1, 0x1000020  ; dynamic shared memory: behind 20 bytes, at the next multiple of 16
        ST   [R2], R0
        BAR
        ISUB R3, RZ, R0
        IADD R3, R3, c[0x0]
        SHL  R3, R3, 2
        LD   R4, [R3+0x100001c]
        IADD R1, R1, c[0x40]
        ST   [R1], R4
        EXIT

; Every thread takes a ticket of count[0], and writes the low byte of its own number to bytes[ticket].
; parameter pointer count
; parameter pointer bytes
        MOV  R0, c[0x40]
        MOV  R1, 1
        ATOM.ADD R0, [R0], R1
        MOV  R2, SR_THREAD
        IADD R0, R0, c[0x48]
        ST.8 [R0], R2
        MOV  R3, c[0x40]
        RED.MAX.U32 [R3+4], R2
        EXIT

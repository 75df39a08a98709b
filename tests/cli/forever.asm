        MOV  R0, 1
again:  IADD R0, R0, 1
        BRA  again

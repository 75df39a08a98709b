# Transcript files: written, shown, compared.
. "$(dirname "$0")/common.sh"
scale="$tests/scale.asm --block 6 --arg inout:i32[6]=iota --arg i32:3"

succeeds run --emulate $scale --transcript t.txt
grep -v -e '^kernel ' -e '^launch firmware' -e '^written by' -e '^argument' -e 'tokens/s' stdout.txt >lines.txt
succeeds show t.txt
says "kernel scale, written by emulator"
diff lines.txt <(tail -n +2 stdout.txt) >difference.txt || fail "show prints other lines than run" "$(head -5 difference.txt)"
succeeds show t.txt --tokens
says "<PC 4><IMUL 1111 1111>"
succeeds show t.txt --verbose
says "firmware  pc 0"

succeeds diff t.txt t.txt
says "equal: "
succeeds diff t.txt
says "written by emulator and by emulator"

# One value of one lane differs.
awk '/<PC 4>/ && !done { sub(/<1.0 03;>/, "<1.0 04;>"); done = 1 } { print }' t.txt >other.txt
"$qwengpu" diff t.txt other.txt >stdout.txt 2>stderr.txt && fail "a difference is not seen"
says "block (0,0,0) quad 0, pc 4, lane 1"

# One new value of an atomic operation differs.
tickets="$tests/tickets.asm --block 6 --arg inout:i32[2]=zero --arg out:u8[6]"
succeeds run --emulate $tickets --transcript tickets.txt
succeeds show tickets.txt --tokens
says "<0.0 00;><0.0=01;><RD 1>"
succeeds diff tickets.txt
awk '/<PC 2>/ && !done { sub(/<1.0=02;>/, "<1.0=03;>"); done = 1 } { print }' tickets.txt >other.txt
"$qwengpu" diff tickets.txt other.txt >stdout.txt 2>stderr.txt && fail "a difference of a new value is not seen"
says "block (0,0,0) quad 0, pc 2, lane 1"
says "[0x100] 1 -> 3"

# A transcript tells who waited where, as the launch did.
"$qwengpu" run --emulate "$tests/pair_barrier.asm" --block 80 --arg "out:i32[80]" --arg i32:70 --arg i32:72 --transcript stuck.txt \
  >stdout.txt 2>stderr.txt && fail "a deadlock succeeds"
succeeds show stuck.txt
says "  warp 2 quad 17: pc 8 [1100] BAR.NAMED"

# Another launch is not a difference.
succeeds run --emulate "$tests/scale.asm" --block 6 --arg "inout:i32[6]=iota" --arg i32:4 --transcript another.txt
refuses 1 "different launches" diff t.txt another.txt

# A part of a transcript, on request.
head -c 3000 t.txt >cut.txt
succeeds show cut.txt --partial
says "the transcript ends here, without <END>"
"$qwengpu" diff cut.txt t.txt --partial >stdout.txt 2>stderr.txt && fail "a cut transcript is equal to the whole"
says "ends here"
finish

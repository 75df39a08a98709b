# Transcript files: written, shown, compared.
. "$(dirname "$0")/common.sh"
scale="$tests/scale.asm --block 6 --arg inout:i32[6]=iota --arg i32:3"

succeeds run --emulate $scale --transcript t.txt
grep -v -e '^kernel ' -e '^written by' -e '^argument' -e 'tokens/s' stdout.txt >lines.txt
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

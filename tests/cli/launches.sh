# Launches that succeed: the examples with their results, and what the options do.
. "$(dirname "$0")/common.sh"

for launch in "$examples"/*.launch.json; do
  name=$(basename "$launch" .launch.json)
  succeeds run --emulate "$launch" --out "$name"
  says "cudaStreamSynchronize(stream 1)  cudaSuccess"
  "$check_on_cpu" "$launch" "$name" || fail "$name differs from the CPU"
done

# The same launch on the command line.
succeeds run --emulate "$tests/scale.asm" --grid 1 --block 5 --arg "inout:i32[5]=iota" --arg i32:-3 --out scale
says "argument 0 (data) i32[5] = 0 -3 -6 -9 -12 -> scale/arg0.npy"
says "block (0,0,0) quad 1  pc 4 [1000]  IMUL R1, R1, c[0x48]"
says "= -12 | . | . | ."
grep -q $'\x1b' stdout.txt stderr.txt && fail "control codes in a pipe"

# Its result is an input of the next.
succeeds run --emulate "$tests/scale.asm" --block 5 --arg inout:scale/arg0.npy --arg i32:2 --out twice
says "= 0 -6 -12 -18 -24"

# A buffer of another type and an odd size.
succeeds run --emulate "$tests/scale.asm" --block 1 --arg "inout:u8[7]=iota" --arg i32:1
says "u8[7] = 0 1 2 3 4 5 6"

# JSON holds what the lines say, and nothing else is printed.
succeeds run --emulate "$tests/scale.asm" --block 4 --arg "inout:i32[4]=iota" --arg i32:2 --json
says '"status": "cudaSuccess"'
says '"instructions": 7'
[ "$(head -c 1 stdout.txt)" = "{" ] || fail "--json prints more than JSON"
"$qwengpu" run --emulate "$tests/scale.asm" --grid 0 --arg "out:i32[4]" --arg i32:2 --json >stdout.txt 2>stderr.txt && fail "a grid of 0 succeeds"
says '"status": "cudaErrorInvalidConfiguration"'
succeeds run --emulate "$tests/scale.asm" --block 4 --arg "inout:i32[4]=iota" --arg i32:2 --quiet
[ -s stdout.txt ] && fail "--quiet prints"

succeeds run --emulate "$tests/scale.asm" --block 4 --arg "inout:i32[4]=iota" --arg i32:2 --verbose
says "firmware  pc 0   [1111]"

# Machine code.
succeeds asm "$tests/scale.asm"
says "; kernel scale: 7 instructions, 16 registers a thread"
cp stdout.txt listed.asm
succeeds asm listed.asm
diff <(tail -n +2 listed.asm) <(tail -n +2 stdout.txt) >difference.txt || fail "a listing does not assemble to itself" "$(cat difference.txt)"
succeeds asm "$examples/vecadd.cu"
says "; parameter pointer"
succeeds asm --firmware
says "cudaMalloc"
finish

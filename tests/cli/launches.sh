# Launches that succeed: the examples with their results, and what the options do.
. "$(dirname "$0")/common.sh"

for name in $(names_of_examples); do
  launches_of "$name"
  succeeds run --emulate "${launches[@]}" --out "$name"
  says "cudaStreamSynchronize(stream 1)  cudaSuccess"
  "$check_on_cpu" "${launches[@]}" "$name" || fail "$name differs from the CPU"
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

# Shared memory, static and dynamic, and a barrier.
succeeds run --emulate "$tests/reverse.asm" --grid 2 --block 5 --shared 20 --arg "out:i32[5]"
says "argument 0 (out) i32[5] = 4 3 2 1 0"
says "cuModuleLoadData(12 instructions, 16 registers a thread, 32 shared bytes)"
says "allocateShared(52 bytes) = shared[0x0]  cudaSuccess"
says "ST [R2], R0                        shared[0x20] = 0 | shared[0x24] = 1 | shared[0x28] = 2 | shared[0x2c] = 3"
says "BAR                                waits 1000"
says "block (1,0,0)  the barrier is passed"
says "freeShared(52 bytes at shared[0x0])  cudaSuccess"
echo "{\"file\": \"$tests/reverse.asm\", \"block\": 5, \"shared\": 20, \"arguments\": [\"out:i32[5]\"]}" >reverse.launch.json
succeeds run --emulate reverse.launch.json
says "argument 0 (out) i32[5] = 4 3 2 1 0"
succeeds run --emulate reverse.launch.json --shared 0
says "allocateShared(20 bytes) = shared[0x0]"

# Atomic operations, and stores of bytes.
succeeds run --emulate "$tests/tickets.asm" --block 6 --arg "inout:i32[2]=zero" --arg "out:u8[6]"
says "argument 0 (count) i32[2] = 6 5"
says "argument 1 (bytes) u8[6] = 0 1 2 3 4 5"
says "ATOM.ADD R0, [R0], R1              = [0x100] 4 -> 5 | [0x100] 5 -> 6 | . | ."
says "ST.8 [R0], R2                      [0x204] 0 -> 4 | [0x205] 0 -> 5 | . | ."
says "RED.MAX.U32 [R3+0x4], R2           [0x104] 3 -> 4 | [0x104] 4 -> 5 | . | ."

# Shuffles, votes and meetings of a warp.
succeeds run --emulate "$tests/warp_sum.asm" --block 64 --arg "in:i32[64]=iota" --arg "out:i32[64]" --arg "out:i32[2]" --out sums
says "argument 1 (sum) i32[64] = 496 496 496 496 496 496 496 496 ..."
says "argument 2 (odd) i32[2] = -1431655766 -1431655766"
says "block (0,0,0) warp 1  released at pc 7"
grep -q "to meet at" stdout.txt && fail "lines of how warps meet without --verbose"
succeeds run --emulate "$tests/warp_sum.asm" --block 64 --arg "in:i32[64]=iota" --arg "out:i32[64]" --arg "out:i32[2]" --verbose
says "block (0,0,0) warp 0  to meet at pc 7"
says "still waiting for the warp: 0000"

# A thread that spins until another has had its turn.
succeeds run --emulate "$tests/flag.asm" --block 6 --arg "out:i32[2]"
says "argument 0 (flag) i32[2] = 1 7"
says "block (0,0,0)  the lanes that yielded go on"

# A barrier of some threads: the firmware passes it. Its table is a variable of the module, in front of the buffers.
succeeds run --emulate "$tests/pair_barrier.asm" --block 80 --arg "out:i32[80]" --arg i32:72 --arg i32:72
says "argument 0 (out) i32[80] = 1 1 1 1 1 1 1 1 ..."
says "cudaMalloc(buffer 0, 32 bytes) = 0x100"
says "block (0,0,0)  all lanes wait, some of them at named barriers"
says "block (0,0,0)  the barrier is passed"
says "cudaMemcpyDeviceToHost(buffer 1, 0x200, 320 bytes)"

# Local memory.
succeeds run --emulate "$tests/local.asm" --block 6 --arg "out:i32[6]"
says "argument 0 (out) i32[6] = 1 2 3 4 5 6"
says "localMemory(16 bytes a thread, 96 bytes) = 0x200  cudaSuccess"

# Several launches on the same memory: what one keeps, the next ones use.
sequence() {
  local n=0
  for arguments in "$@"; do
    n=$((n + 1))
    echo "{\"file\": \"$tests/scale.asm\", \"block\": 4, \"arguments\": [$arguments]}" >step.$n.json
  done
}
sequence '"keep:x:in:i32[4]=iota", "i32:3"' '"out:i32[4]", "i32:1"' '"use:x:out", "i32:-5"' '"free:x:inout:i32[4]=iota", "i32:2"'
succeeds run --emulate step.1.json step.2.json step.3.json step.4.json --out steps --transcript steps.txt
says "launch 1 of 4, kernel scale of "
says "launch 4 of 4, kernel scale of "
says "argument 0 (data) i32[4] = 0 0 0 0 -> steps/2/arg0.npy"
says "argument 0 (data) i32[4] = 0 -15 -30 -45 -> steps/3/arg0.npy"
says "argument 0 (data) i32[4] = 0 2 4 6 -> steps/4/arg0.npy"
says "cudaMalloc(buffer 1, 16 bytes) = 0x200"
[ "$(grep -c "^cudaFree(buffer 0 at 0x100)" stdout.txt)" = 1 ] || fail "what is kept is not freed once" "$(grep cudaFree stdout.txt)"
succeeds show steps.txt.3
says "cudaMemcpyDeviceToHost(buffer 0, 0x100, 16 bytes)"
refuses 2 "steps.txt.3 is launch 3 of a sequence" diff steps.txt.3
succeeds diff steps.txt.3 steps.txt.3
succeeds run --emulate step.1.json step.3.json --json
says '"kernel": "scale"'
[ "$(head -c 1 stdout.txt)" = "[" ] || fail "--json of several launches is not a list"

# Variables of a module have their place in front of what is kept.
cat >variables.cu <<'END'
__constant__ int factors[4] = {2, 3, 5, 7};
__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x + 1; }
__global__ void multiply(int* x) { x[threadIdx.x] *= factors[threadIdx.x]; }
END
step() { echo "{\"file\": \"variables.cu\", \"kernel\": \"$2\", \"block\": 4, \"arguments\": [\"$3\"]}" >step.$1.json; }
step 1 fill "keep:x:i32[4]"
step 2 multiply "use:x"
step 3 multiply "free:x:out"
succeeds run --emulate step.1.json step.2.json step.3.json
says "argument 0 i32[4] = 4 18 75 196"
says "cudaMalloc(buffer 0, 16 bytes) = 0x100"

# What the launch cost: the kernel's tokens and the firmware's are all of them.
succeeds run --emulate "$tests/scale.asm" --block 8 --arg "inout:i32[8]=iota" --arg i32:2
says "kernel scale: 14 instructions (each for up to four threads) in "
kernel_tokens=$(sed -n 's/^kernel scale: .* in \([0-9]*\) tokens, .* tokens an instruction$/\1/p' stdout.txt)
firmware_tokens=$(sed -n 's/^launch firmware: .* in \([0-9]*\) tokens, [0-9]* % of the transcript$/\1/p' stdout.txt)
says "$((kernel_tokens + firmware_tokens)) tokens in "

# JSON holds what the lines say, and nothing else is printed.
succeeds run --emulate "$tests/scale.asm" --block 4 --arg "inout:i32[4]=iota" --arg i32:2 --json
says '"status": "cudaSuccess"'
says '"instructions": 7'
says '"kernel tokens": '
says '"firmware tokens": '
says '"firmware share": 0.9'
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
for kernel in reverse pair_barrier local; do
  succeeds asm "$tests/$kernel.asm"
  cp stdout.txt $kernel.asm
  succeeds asm $kernel.asm
  cmp -s stdout.txt $kernel.asm || fail "the listing of $kernel does not assemble to itself" "$(cat stdout.txt)"
done
grep -qx "; shared 20" reverse.asm || fail "asm does not list shared memory" "$(cat reverse.asm)"
grep -qx "; local 16" local.asm || fail "asm does not list local memory" "$(cat local.asm)"
grep -qx "; named-barriers 0x100" pair_barrier.asm || fail "asm does not list named barriers" "$(cat pair_barrier.asm)"
succeeds run --emulate pair_barrier.asm --block 80 --arg "out:i32[80]" --arg i32:72 --arg i32:72
says "cudaMalloc(buffer 0, 32 bytes) = 0x100"
succeeds asm "$examples/vecadd.cu"
says "; parameter pointer"
succeeds asm --firmware
says "cudaMalloc"
finish

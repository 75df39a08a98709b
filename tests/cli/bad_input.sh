# Bad input: one clear message, a status that is not 0, and nothing that looks like a result.
. "$(dirname "$0")/common.sh"
run="run --emulate --out out"
scale="$tests/scale.asm --block 4 --arg inout:i32[4]=iota --arg i32:3"

# The command line itself.
refuses 2 "subcommand" 
refuses 2 "nosuch" nosuch
refuses 2 "FILE is required" run
refuses 2 "--no-such-option" run --no-such-option x.cu
for command in run build show diff explain asm export fuzz bench; do
  succeeds $command --help
  says "$command"
done
succeeds --help

# Files.
refuses 1 "missing.cu: cannot be read" $run missing.cu --kernel k
refuses 1 "missing.asm: cannot be read" $run missing.asm
refuses 1 "missing.launch.json: cannot be read" $run missing.launch.json
refuses 2 "not a kernel" $run "$tests/common.sh"
echo "hello, world" >text.cu
refuses 1 "text.cu" $run text.cu --kernel k
echo "int main() { return 0; }" >none.cu
refuses 2 "none.cu: there is no kernel in it" $run none.cu
echo "NOSUCH R1, R2" >wrong.asm
refuses 1 "wrong.asm: " $run wrong.asm
echo "; shared lots" >wrong.asm
refuses 1 "wrong.asm: shared: 'lots' is not a number of bytes" $run wrong.asm
echo "; local 20" >wrong.asm
refuses 1 "wrong.asm: local: 20 is not a multiple of 16" $run wrong.asm
echo "; variable-bytes 0102 0" >wrong.asm
refuses 1 "wrong.asm: variable-bytes: '0' is not bytes of two hexadecimal digits each" $run wrong.asm
echo '{"file": "x.cu", "shared": [1, 2]}' >wrong.json
refuses 2 "wrong.json: \"shared\" is not" $run wrong.json
echo '{"file": "x.cu", "grid": "many"}' >wrong.json
refuses 2 "wrong.json: \"grid\" is not" $run wrong.json

# Kernel names.
printf '__global__ void one(int* p) { *p = 1; }\n__global__ void two(int* p) { *p = 2; }\n' >both.cu
refuses 2 "both.cu: there are several kernels; say which:" $run both.cu --arg "out:i32[1]"
refuses 2 "both.cu: there is no kernel three; there is:" $run both.cu --kernel three --arg "out:i32[1]"

# Arguments.
refuses 2 "it takes 2 arguments, not 1" $run "$tests/scale.asm" --arg "out:i32[4]"
refuses 2 "argument 1 (factor) is the number f32" $run "$tests/scale.asm" --arg "out:i32[4]" --arg f32:1
refuses 2 "argument 0 (data) is the number u64" $run "$tests/scale.asm" --arg u64:256 --arg i32:1
refuses 2 "'i32:x'" $run "$tests/scale.asm" --arg "out:i32[4]" --arg i32:x
refuses 1 "missing.npy: cannot be read" $run "$tests/scale.asm" --arg in:missing.npy --arg i32:1
head -c 100 /dev/zero >zeros.npy
refuses 1 "zeros.npy: not a .npy file" $run "$tests/scale.asm" --arg in:zeros.npy --arg i32:1
refuses 2 "host staging holds" $run "$tests/scale.asm" --arg "in:i32[15500]=zero" --arg i32:1
refuses 2 "'4x4' is not a size" $run $scale --grid 4x4
refuses 2 "--shared" $run $scale --shared many

# Memory that is kept in a sequence of launches.
refuses 2 "argument 0: no earlier launch keeps x; kept is nothing: say keep:NAME:" $run "$tests/scale.asm" --arg use:x --arg i32:1
refuses 2 "'keep:x': it says no buffer" $run "$tests/scale.asm" --arg keep:x --arg i32:1
step() { echo "{\"file\": \"$tests/scale.asm\", \"block\": $3, \"arguments\": [\"$2\", \"i32:1\"]}" >$1.json; }
step first "keep:x:i32[4]" 4
step second "use:y" 4
refuses 2 "second.json: argument 0: no earlier launch keeps y; kept are: x" $run first.json second.json
step second "keep:x:i32[4]" 4
refuses 2 "second.json: argument 0: x is kept already" $run first.json second.json
step second "use:x:in:i32[5]=iota" 4
refuses 2 "second.json: argument 0: x is i32[5], but what is kept has i32[4]" $run first.json second.json
refuses 2 "--kernel, --grid, --block, --shared and --arg are of a single launch" $run first.json first.json --block 5
step second "use:x:out" 68
step third "use:x:out" 4
refuses 1 "launch 2 of 3, the launch failed: cudaErrorIllegalAddress (700): block (0,0,0) quad 16" $run first.json second.json third.json
[ -e out/3/arg0.npy ] && fail "a launch ran after one that failed"

# What the launch itself refuses is written by the firmware, with CUDA's names.
refuses 1 "cudaErrorInvalidConfiguration (9) from gridDim" $run $scale --grid 0
refuses 1 "cudaErrorInvalidConfiguration (9) from gridDim" $run $scale --grid 1,65536
refuses 1 "cudaErrorInvalidConfiguration (9) from blockDim" $run $scale --block 32,33
refuses 1 "cudaErrorMemoryAllocation (2) from cudaMalloc" $run "$tests/scale.asm" --arg "out:i32[1000000]" --arg i32:1
refuses 1 "cudaErrorMemoryAllocation (2) from cudaMalloc" $run "$tests/scale.asm" --arg "out:u8[4294967295]" --arg i32:1
refuses 1 "cudaErrorLaunchOutOfResources (701) from resources" $run $scale --shared 49153
refuses 1 "cudaErrorLaunchOutOfResources (701) from resources" $run $scale --shared 4294967295
printf '; shared 49153\nEXIT\n' >large.asm
refuses 1 "cudaErrorLaunchOutOfResources (701) from resources" $run large.asm
printf '; local 122880\nEXIT\n' >large.asm
refuses 1 "cudaErrorMemoryAllocation (2) from localMemory" $run large.asm

# A fault says where: block, quad, lane, program counter, address and step.
refuses 1 "cudaErrorIllegalAddress (700): block (0,0,0) quad 16 lane 0, pc 3, address 0x200, step " $run $scale --block 68
"$qwengpu" $run $scale --block 68 >stdout.txt 2>stderr.txt
says "cudaErrorIllegalAddress in step "
says ", lane 0, address 0x200"
step=$(sed -n 's/.*address 0x200, step \([0-9]*\)$/\1/p' stderr.txt)
grep -q "in step $step," stdout.txt || fail "the line and the message name different steps" "$(cat stderr.txt)"
printf '; shared 4\nMOV R0, SR_THREAD\nSHL R0, R0, 6\nST [R0+0x1000000], R0\nEXIT\n' >beyond.asm
refuses 1 "cudaErrorIllegalAddress (700): block (0,0,0) quad 1 lane 0, pc 2, address shared[0x100], step " $run beyond.asm --block 8
printf '; shared 4\nLD R0, [R0+0x1000002]\nEXIT\n' >odd.asm
refuses 1 "cudaErrorMisalignedAddress (716): block (0,0,0) quad 0 lane 0, pc 0, address shared[0x2], step " $run odd.asm
refuses 1 "cudaErrorIllegalAddress (700): block (0,0,0) quad 0 lane 0, pc 2, address 0x0, step " \
  $run "$tests/tickets.asm" --arg "out:i32[0]" --arg "out:u8[6]"
echo "ILLEGAL" >illegal.asm
refuses 1 "cudaErrorIllegalInstruction (715): block (0,0,0) quad 0 lane 0, pc 0" $run illegal.asm

# Threads that wait for others that do not come: where each warp waits.
pairs="$tests/pair_barrier.asm --block 80 --arg out:i32[80]"
refuses 1 "cudaErrorLaunchTimeout (702): the threads of block (0,0,0) wait for barriers that too few of them come to" \
  $run $pairs --arg i32:70 --arg i32:72
for line in "  warp 0 quads 0-7: pc 8 [1111] BAR.NAMED" "  warp 1 quads 8-15: pc 8 [1111] BAR.NAMED" \
  "  warp 2 quad 16: pc 8 [1111] BAR.NAMED" "  warp 2 quad 17: pc 8 [1100] BAR.NAMED" "  10 threads have ended"; do
  grep -qxF -- "$line" stderr.txt || fail "the deadlock does not say '$line'" "$(cat stderr.txt)"
  grep -qxF -- "$line" stdout.txt || fail "the launch's lines do not say '$line'" "$(tail -20 stdout.txt)"
done

# A launch that does not end.
refuses 1 "has not ended after 5000 tokens; kernel forever block (0,0,0) quad 0 was executing pc 1 to 2" \
  $run "$tests/forever.asm" --max-steps 5000
printf '__global__ void spin(volatile int* p) {\n  int x = 1;\n  while (true) {\n    x = x * 3 + 1;\n    p[0] = x;\n  }\n}\n' >spin.cu
refuses 1 "spin.cu:" $run spin.cu --arg "out:i32[1]" --max-steps 5000
printf 'again: YIELD\nBRA again\n' >yields.asm
refuses 1 "has not ended after 5000 tokens; kernel yields block (0,0,0) quad " $run yields.asm --block 8 --max-steps 5000
[ -z "$(find out -name '*.npy' 2>/dev/null)" ] || fail "a failed launch left results" "$(find out)"

# An unsupported construct names the place.
printf '__global__ void f64(double* p) {\n  p[0] = p[0] * 1.5;\n}\n' >double.cu
refuses 1 "double.cu:2" $run double.cu --arg "out:f64[1]"

# A failed launch takes the results of an earlier one away.
succeeds $run $scale
[ -f out/arg0.npy ] || fail "no result"
refuses 1 "cudaErrorInvalidConfiguration" $run $scale --grid 0
[ -f out/arg0.npy ] && fail "an old result outlived a failed launch"
refuses 1 "not_there/t.txt: cannot be written" $run $scale --transcript not_there/t.txt

# Transcripts.
refuses 1 "missing.txt: cannot be read" show missing.txt
refuses 1 "not a transcript" show "$tests/common.sh"
succeeds run --emulate $scale --transcript t.txt
head -c 3000 t.txt >cut.txt
refuses 1 "cut.txt: the transcript is incomplete, it does not end with <END>; --partial" show cut.txt
refuses 1 "cut.txt: the transcript is incomplete" diff cut.txt t.txt
sed 's/<PC 3>/<PC three>/' t.txt >damaged.txt
refuses 1 "no token is spelled '<PC three>'" show damaged.txt
refuses 2 "FORMAT" export
refuses 2 "onnx" export onnx model.onnx
finish

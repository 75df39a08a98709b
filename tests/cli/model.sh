# The model: built once, the same from the same source, and the writer of the examples.
. "$(dirname "$0")/common.sh"

succeeds build
says "constructed in"
cp stdout.txt built.txt
hash=$(sed -n 's/^model \([0-9a-f]*\): 45 layers.*/\1/p' stdout.txt)
[ -n "$hash" ] || fail "build prints no hash" "$(head -3 stdout.txt)"
succeeds build
says "model $hash"
says "loaded in"
[ -s stderr.txt ] && fail "a model from the cache needs no note" "$(cat stderr.txt)"
succeeds build --rebuild
says "model $hash"
says "constructed in"

# A damaged cache is noticed and built again.
file=$(ls cache/qwengpu/*.sparse)
cp "$file" whole
for damage in "truncate -s 1000 $file" "truncate -s -1 $file" "truncate -s 0 $file" "dd if=/dev/zero of=$file bs=1 seek=5000 count=64 conv=notrunc status=none"; do
  cp whole "$file" && $damage
  succeeds build
  says "model $hash"
  says "constructed in"
  grep -q "building the model again" stderr.txt || fail "no note about the damage ($damage)" "$(cat stderr.txt)"
  cmp -s "$file" whole || fail "the cache is not repaired ($damage)"
done

# A folder that cannot be written: the model is built, and works.
XDG_CACHE_HOME=/proc/none succeeds build
says "model $hash"
grep -q "not kept" stderr.txt || fail "no note that the model is not kept" "$(cat stderr.txt)"

for name in $(names_of_examples); do
  launches_of "$name"
  succeeds run "${launches[@]}" --out "$name" --transcript "$name.txt"
  says "written by the model, weights $hash"
  "$check_on_cpu" "${launches[@]}" "$name" || fail "$name differs from the CPU"
  [ ${#launches[@]} -gt 1 ] && succeeds run --emulate "${launches[@]}" --transcript "$name.emulator.txt"
  for transcript in "$name".txt*; do
    succeeds diff "$transcript" $([ ${#launches[@]} -gt 1 ] && echo "$name.emulator${transcript#"$name"}")
    says "equal: "
  done
done
# Shared memory, barriers, atomic operations, shuffles, votes, yields, local memory: the emulator's words.
for launch in "reverse.asm --grid 2 --block 5 --shared 20 --arg out:i32[5]" \
  "tickets.asm --block 6 --arg inout:i32[2]=zero --arg out:u8[6]" \
  "warp_sum.asm --block 64 --arg in:i32[64]=iota --arg out:i32[64] --arg out:i32[2]" \
  "flag.asm --block 6 --arg out:i32[2]" \
  "pair_barrier.asm --block 80 --arg out:i32[80] --arg i32:72 --arg i32:72" \
  "local.asm --block 6 --arg out:i32[6]"; do
  succeeds run "$tests/"$launch --transcript t.txt
  succeeds diff t.txt
  says "equal: "
done
refuses 1 "cudaErrorLaunchTimeout (702)" run "$tests/pair_barrier.asm" --block 80 --arg "out:i32[80]" --arg i32:70 --arg i32:72
refuses 1 "cudaErrorLaunchOutOfResources (701) from resources" \
  run "$tests/scale.asm" --shared 49153 --arg "out:i32[4]" --arg i32:1

succeeds diff "$examples/vecadd.launch.json"
says "written by weights $hash and by emulator"
refuses 1 "cudaErrorInvalidConfiguration (9) from gridDim" run "$tests/scale.asm" --grid 0 --arg "out:i32[4]" --arg i32:1
refuses 1 "cudaErrorIllegalAddress (700): block (0,0,0) quad 16 lane 0" \
  run "$tests/scale.asm" --block 68 --arg "out:i32[4]" --arg i32:1
refuses 1 "has not ended after 3000 tokens; kernel forever" run "$tests/forever.asm" --max-steps 3000

succeeds explain
says "layer 44"
succeeds fuzz --count 2
says "equal those of the emulator"
succeeds bench --tokens 11000
says "tokens/s"
refuses 1 "cannot" export gguf /proc/none/model.gguf
finish

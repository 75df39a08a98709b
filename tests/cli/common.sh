# Sourced by the tests of this folder: common.sh QWENGPU CHECK_ON_CPU EXAMPLES FOLDER. They run in FOLDER, which is empty at first.
set -u
qwengpu=$1 check_on_cpu=$2 examples=$3 folder=$4
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || exit 1
export XDG_CACHE_HOME=$folder/cache
failures=0

fail() {
  echo "FAILED: $1"
  shift
  [ $# -gt 0 ] && printf '    %s\n' "$@"
  failures=$((failures + 1))
}

# refuses STATUS TEXT ARGUMENTS...: qwengpu ends with STATUS, and says so in one message that holds TEXT.
refuses() {
  local status=$1 text=$2
  shift 2
  "$qwengpu" "$@" >stdout.txt 2>stderr.txt </dev/null
  local got=$?
  [ $got = "$status" ] || fail "qwengpu $* ends with $got, not $status" "$(cat stderr.txt)"
  grep -qF -- "$text" stderr.txt || fail "qwengpu $* does not say '$text'" "$(cat stderr.txt)"
  [ "$(grep -c '^qwengpu: ' stderr.txt)" = 1 ] || fail "qwengpu $* has not one message" "$(cat stderr.txt)"
}

# succeeds ARGUMENTS...: the output is in stdout.txt.
succeeds() {
  "$qwengpu" "$@" >stdout.txt 2>stderr.txt </dev/null || fail "qwengpu $* ends with $?" "$(cat stderr.txt)"
}

# says TEXT: the last output has it.
says() {
  grep -qF -- "$1" stdout.txt || fail "the output does not say '$1'" "$(head -c 2000 stdout.txt)"
}

# names_of_examples: one a line. launches_of NAME: sets launches to the files of its launches, in order; an example of several
# launches has NAME.1.launch.json, NAME.2.launch.json ...
names_of_examples() {
  for file in "$examples"/*.launch.json; do basename "$file" .launch.json; done | sed 's/\.[0-9]*$//' | sort -u
}
launches_of() {
  launches=("$examples/$1".launch.json)
  [ -f "${launches[0]}" ] || launches=("$examples/$1".[0-9].launch.json)
}

finish() {
  [ $failures = 0 ] && echo "all as expected" && exit 0
  echo "$failures failed"
  exit 1
}

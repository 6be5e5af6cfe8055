# `./dev fuzz NAME [MINUTES]`: one fuzzer of tests/fuzz searches, with its sanitizers. Sourced by ./dev, whose functions and settings
# it uses.
# shellcheck shell=bash disable=SC2154

command_fuzz() {
  local name=${1:-} minutes=${2:-1} folder=build-fuzz/tests/fuzz known
  known=$(cd tests/fuzz && printf '%s ' *_fuzz.cpp | sed 's/_fuzz\.cpp//g')
  [[ " $known" == *" $name "* && -n $name ]] || die "fuzz: there is no fuzzer \"$name\", but: $known" 2
  [[ $minutes =~ ^[0-9]+$ && $# -le 2 ]] || die "fuzz: MINUTES is a number: $*" 2
  need_packages build test
  [ -x build/bantam ] || build_command release -DBANTAM_TESTS=OFF
  [ -e build-fuzz/build.ninja ] || configure fuzz
  build fuzz "${name}_fuzz"
  in_group ctest --test-dir build-fuzz -R fuzz_seed_ --output-on-failure >>"$log" 2>&1 || die "fuzz: seeds could not be made: see $log"
  mkdir -p "$folder/found/$name"
  local inputs=("$folder/found/$name" "tests/fuzz/corpus/$name")
  case $name in model | structure) inputs+=("$folder/seeds") ;; esac
  in_group "$folder/${name}_fuzz" -max_total_time=$((minutes * 60)) -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$folder/found/$name-" "${inputs[@]}" || die "fuzz: what it found lies in $folder/found"
}

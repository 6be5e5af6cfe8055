# `./dev fuzz NAME [MINUTES]`: one fuzzer of tests/fuzz searches, with its sanitizers; structure_search searches without them.
# Sourced by ./dev, whose functions and settings it uses.
# shellcheck shell=bash disable=SC2154

command_fuzz() {
  local name=${1:-} minutes=${2:-1} folder=build-fuzz/tests/fuzz known
  known=$(cd tests/fuzz && printf '%s ' *_fuzz.cpp | sed 's/_fuzz\.cpp//g')'structure_search '
  [[ " $known" == *" $name "* && -n $name ]] || die "fuzz: there is no fuzzer \"$name\", but: $known" 2
  [[ $minutes =~ ^[0-9]+$ && $# -le 2 ]] || die "fuzz: MINUTES is a number: $*" 2
  need_packages build test
  if [ "$name" = structure_search ]; then
    search_structures "$minutes"
    return
  fi
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

# Files changed by schema, in the release build: a process a core, each with a seed of its own.
search_structures() {
  local folder=build/tests/fuzz seed
  [ -e build/build.ninja ] || configure release
  build release bantam_command structure_search
  in_group ctest --test-dir build -R fuzz_seed_ --output-on-failure >>"$log" 2>&1 || die "fuzz: seeds could not be made: see $log"
  local running=() failed=0
  for seed in $(seq "$(nproc)"); do
    (cd "$folder" && exec ./structure_search $(($1 * 60)) $((RANDOM * 1000 + seed)) seeds "$OLDPWD/tests/fuzz/corpus/model") &
    running+=($!)
  done
  for seed in "${running[@]}"; do wait "$seed" || failed=1; done
  [ $failed = 0 ] || die "fuzz: the file that ended the search lies in $folder"
}

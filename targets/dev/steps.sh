# How ./dev runs a step: in a process group that an interrupt ends, quietly when all is well. Sourced by ./dev, whose
# functions (die) and settings (log, verbose) it uses.
# shellcheck shell=bash disable=SC2154

child=
on_interrupt() {
  trap - INT TERM
  if [ -n "$child" ]; then
    kill -TERM -- "-$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  fi
  printf '\ndev: interrupted; run the same command again to go on\n' >&3
  exit 130
}
exec 3>&2 # what the user sees, also while a step writes to the log
trap on_interrupt INT TERM

# Runs a command in a process group of its own, so that an interrupt ends all of it.
in_group() {
  local status=0
  set -m
  "$@" </dev/null 3>&- 9>&- &
  child=$!
  set +m
  wait "$child" || status=$?
  child=
  return "$status"
}

# step TITLE COMMAND...: quiet when all is well, the end of the output when not.
step() {
  local title=$1 start=$SECONDS from status=0
  shift
  mkdir -p build
  printf '## %s\n$ %s\n' "$title" "$*" >>"$log"
  from=$(wc -l <"$log")
  if $verbose; then
    echo "== $title"
    in_group "$@" > >(tee -a "$log") 2>&1 || status=$?
  else
    printf '%-52s' "$title"
    in_group "$@" >>"$log" 2>&1 || status=$?
  fi
  if [ "$status" -ne 0 ]; then
    $verbose || echo "failed"
    if ! $verbose; then
      echo
      tail -n "+$((from + 1))" "$log" | tail -n "${BANTAM_LOG_LINES:-60}"
    fi
    echo >&2
    die "\"$title\" failed with exit code $status; all output: $log"
  fi
  $verbose || printf '%4d s\n' "$((SECONDS - start))"
}

# One ./dev at a time in a checkout: two would write the same build folders.
single() {
  mkdir -p build
  if command -v flock >/dev/null; then
    exec 9>build/.lock
    if ! flock -n 9; then
      echo "dev: another ./dev works in this checkout; waiting for it" >&2
      flock 9
    fi
  fi
  : >"$log"
}

jobs_count() {
  local cores memory
  cores=$(nproc)
  # Optimising compilers take up to 1.5 GiB a job.
  memory=$(awk '/MemAvailable/ {n = int($2 / 1572864); print n < 1 ? 1 : n}' /proc/meminfo)
  echo $((cores < memory ? cores : memory))
}
jobs=${BANTAM_JOBS:-$(jobs_count)}


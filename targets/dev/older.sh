# `./dev older` and `./dev digests`: the command of an older commit beside today's, and what both convert. Sourced by
# ./dev, whose functions and settings it uses. Standard output has the results alone, so steps are shown on standard
# error. shellcheck shell=bash disable=SC2154

older=build/older

# build_older COMMIT: sets `older_command` to the command of that commit, as its own preset release builds it.
build_older() {
  local commit tree
  commit=$(git rev-parse --verify --quiet --short=8 "$1^{commit}") || die "\"$1\" is no commit of this repository" 2
  tree=$PWD/$older/$commit
  older_command=$tree/build/bantam
  need_packages build
  if [ ! -e "$tree/.git" ]; then
    rm -rf "$tree"
    git worktree prune
    step "Worktree of $commit" git worktree add --detach "$tree" "$commit"
  fi
  [ -e "$tree/build/build.ninja" ] || step "Configure $commit" \
    cmake -S "$tree" --preset release -DBANTAM_TESTS=OFF
  step "Build $commit" cmake --build "$tree/build" -j "$jobs" --target bantam_command
}

command_older() {
  [ $# -eq 1 ] || die "older takes one commit" 2
  build_older "$1" >&2
  echo "$older_command"
}

command_digests() {
  local options=()
  case ${1:-} in
    "" | -*) ;;
    *)
      build_older "$1" >&2
      options=(--against "$older_command")
      shift
      ;;
  esac
  build_command release -DBANTAM_TESTS=OFF >&2
  in_group python3 -B tests/golden/digests.py --command build/bantam "${options[@]}" "$@"
}

# remove_older: worktrees leave git's list, too.
remove_older() {
  local tree
  for tree in "$older"/*/; do
    [ ! -d "$tree" ] || git worktree remove --force --force "$tree" 2>/dev/null || rm -rf "$tree"
  done
  git worktree prune 2>/dev/null || true
}

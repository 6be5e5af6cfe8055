# `./dev mutants`: each check of the code that verifies a model file is removed in turn (tests/mutants/mutants.py).
# Sourced by ./dev, whose functions and settings it uses.
# shellcheck shell=bash disable=SC2154

command_mutants() {
  need_packages build test
  need_python tests/mutants/requirements.txt || die "mutants needs the packages of tests/mutants/requirements.txt"
  in_group "$venv/bin/python" -B tests/mutants/mutants.py --jobs "$jobs" "$@" || die "mutants: not every check is found, or nothing ran"
}

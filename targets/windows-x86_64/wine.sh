#!/bin/sh
# wine.sh PREFIX PROGRAM ARGUMENTS...: runs a program for Windows, with Wine's files in PREFIX.
WINEPREFIX=$1
WINEDEBUG=${WINEDEBUG:--all}
WINEDLLOVERRIDES="mscoree=;mshtml=" # asks for no downloads
export WINEPREFIX WINEDEBUG WINEDLLOVERRIDES
shift
exec wine "$@"

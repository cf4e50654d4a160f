#!/usr/bin/env bash
# To be sourced: . upmem_env.sh [backend]
#
# Puts the DPU tools and the host library where programs and Makefiles look for them. With an
# argument (simulator, hw, ...) it becomes the backend of the base profile. A script that sources this
# file without an argument hands over its own ones instead: a word that is no backend is left alone.

if [ -n "${BASH_SOURCE:-}" ]; then
    UPMEM_HOME=$(cd "$(dirname "${BASH_SOURCE}")" && pwd)
elif [ -n "${ZSH_VERSION:-}" ]; then
    UPMEM_HOME=$(cd "$(dirname "$(eval 'echo ${(%):-%x}')")" && pwd)
elif [ -z "${UPMEM_HOME:-}" ]; then
    echo "upmem_env.sh: this shell does not say where the file lies; set UPMEM_HOME first" >&2
fi
export UPMEM_HOME

case ":${PATH}:" in
*":${UPMEM_HOME}/bin:"*) ;;
*) export PATH="${UPMEM_HOME}/bin:${PATH}" ;;
esac
case ":${LD_LIBRARY_PATH:-}:" in
*":${UPMEM_HOME}/lib:"*) ;;
*) export LD_LIBRARY_PATH="${UPMEM_HOME}/lib${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}" ;;
esac
case "${1:-}" in
simulator | cas | model | hw | spi | scenario) export UPMEM_PROFILE_BASE="backend=$1" ;;
esac

# For bash: source this file, or have it in share/bash-completion/completions as `sonde`.
_sonde() {
  local line=${COMP_LINE:0:COMP_POINT}
  local words=()
  read -ra words <<< "$line"
  if [[ $line == *[[:space:]] ]]; then words+=(""); fi
  local offered
  mapfile -t offered < <("${words[0]/#\~/$HOME}" complete-words "${words[@]:1}" 2> /dev/null)
  # bash replaces what stands behind the last = or : alone.
  local begun=${words[-1]}
  local kept=${begun%"${begun##*[=:]}"}
  COMPREPLY=("${offered[@]#"$kept"}")
  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:] ]]; then compopt -o nospace; fi
}
complete -o default -F _sonde sonde

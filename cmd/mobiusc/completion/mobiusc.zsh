#compdef mobiusc
# Completion of mobiusc for zsh: source <(mobiusc completion zsh), after compinit
_mobiusc() {
  local -a described
  local line with_files=0
  for line in "${(@f)$("${words[1]}" complete --current="${words[CURRENT]}" -- "${(@)words[2,CURRENT-1]}" 2>/dev/null)}"; do
    case $line in
      :files) with_files=1 ;;
      *$'\t'*) described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      ?*) described+=("${line//:/\\:}") ;;
    esac
  done
  (( ${#described} )) && _describe -V mobiusc described
  (( with_files )) && _files
  return 0
}
(( ${+functions[compdef]} )) && compdef _mobiusc mobiusc

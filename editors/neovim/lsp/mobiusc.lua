-- The language server of mobiusc for Neovim 0.11 or newer: put this file in lsp/ of your configuration and
-- write vim.lsp.enable("mobiusc") in init.lua. The server is silent about YAML files that are not specs.
return {
  cmd = { "mobiusc", "lsp" },
  filetypes = { "yaml" },
  root_markers = { "specs", ".git" },
}

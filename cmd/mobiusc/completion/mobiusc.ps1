# Completion of mobiusc for PowerShell: mobiusc completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName mobiusc -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
    $before = @($words | Select-Object -Skip 1)
    & $words[0] complete "--current=$wordToComplete" -- @before 2>$null | ForEach-Object {
        $text, $about = $_ -split "`t", 2
        if ($text -eq ':files') {
            Get-ChildItem -Path "$wordToComplete*" -ErrorAction SilentlyContinue | ForEach-Object {
                $path = Resolve-Path -Relative $_.FullName
                [System.Management.Automation.CompletionResult]::new($path, $_.Name, 'ProviderItem', $path)
            }
        } else {
            if (-not $about) { $about = $text }
            [System.Management.Automation.CompletionResult]::new($text, $text, 'ParameterValue', $about)
        }
    }
}

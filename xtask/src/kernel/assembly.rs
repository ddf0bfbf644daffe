//! The assembly that the compiler has written, as the kernel wants it.
//!
//! The kernel returns by a jump to a thunk, so that it can defend itself against speculation; the stable compiler has
//! no option for that. The kernel's own tool (objtool) then finds these returns, and makes data for stack traces from
//! the instructions, as it does for C.

/// What a return becomes.
const RETURN: &str = "\tjmp\t__x86_return_thunk";

/// Rewrites what the compiler has written, and refuses what a kernel must not have.
pub fn for_kernel(written: &str) -> Result<String, String> {
    let mut kept = String::with_capacity(written.len());
    let mut is_dropped = false;
    for line in written.lines() {
        let text = line.trim();
        if let Some(name) = section(text) {
            is_dropped = is_left_out(name);
            match is_dropped {
                true => {}
                false if name.starts_with(".text") => push(&mut kept, "\t.text"),
                false if name.starts_with(".bss") => {
                    push(&mut kept, "\t.section\t.bss,\"aw\",@nobits");
                }
                false => push(&mut kept, line),
            }
            continue;
        }
        is_dropped &= !matches!(text, ".text" | ".data" | ".bss");
        if is_dropped || is_comment(text) {
            continue;
        }
        if let Some(direct) = direct(text) {
            push(&mut kept, &direct);
            continue;
        }
        if let Some(reason) = is_refused(text) {
            return Err(format!("the compiler has written `{text}`: {reason}"));
        }
        push(&mut kept, if matches!(text, "ret" | "retq") { RETURN } else { line });
    }
    Ok(kept)
}

fn push(kept: &mut String, line: &str) {
    kept.push_str(line);
    kept.push('\n');
}

/// The name of a section, if this line begins one.
fn section(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(".section")?.trim_start();
    let name = rest.strip_prefix('"').and_then(|rest| rest.split('"').next());
    name.or_else(|| rest.split(',').next())
}

/// Sections of debuggers, and those of functions that only a panic calls. If something calls these after all, the
/// module has an undefined symbol, and the kernel's build says so.
fn is_left_out(name: &str) -> bool {
    [".debug", ".note", ".comment", ".llvm", ".eh_frame"].iter().any(|it| name.starts_with(it))
        || ["panicking", "rust_begin_unwind"].iter().any(|it| name.contains(it))
}

/// Comments, and what only debuggers and unwinders read.
fn is_comment(text: &str) -> bool {
    ["#", ".cfi_", ".file", ".loc\t", ".ident", ".addrsig"].iter().any(|it| text.starts_with(it))
}

/// A call of `memset` and its like, which the compiler makes through a table of global offsets whatever it is told, as
/// a call of the function itself.
fn direct(text: &str) -> Option<String> {
    let (name, operand) = text.split_once(char::is_whitespace)?;
    let function = operand.trim_start().strip_prefix('*')?.strip_suffix("@GOTPCREL(%rip)")?;
    matches!(name, "callq" | "jmpq").then(|| format!("\t{name}\t{function}"))
}

fn is_refused(text: &str) -> Option<&'static str> {
    let (name, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let is_branch = name.starts_with("call") || name.starts_with("jmp");
    if is_branch && operands.trim_start().starts_with('*') {
        return Some("an indirect branch is not safe from speculation here");
    }
    if operands.contains("@GOT") {
        return Some("a module has no table of global offsets");
    }
    let is_vector = ["%xmm", "%ymm", "%zmm", "%mm", "%st"].iter().any(|it| operands.contains(it));
    is_vector.then_some("kernel code must not use these registers")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str = "\t.file\t\"x\"
\t.section\t.text.one,\"ax\",@progbits
one:
\t.cfi_startproc
\t#APP
\tmovl\t%gs:cpu, %eax
\t#NO_APP
\tcallq\t*memset@GOTPCREL(%rip)
\tretq
\t.section\t\".text._$LT$two$GT$\",\"ax\",@progbits
two:
\tjmp\tone
\t.section\t.text.unlikely._ZN4core9panicking5panic,\"ax\",@progbits
\tcallq\t*%rax
\t.section\t.bss._ZN3NODE,\"aw\",@nobits
NODE:
\t.zero\t64
\t.section\t.debug_info,\"\",@progbits
\t.byte\t1
";

    #[test]
    fn returns_become_jumps_and_only_code_and_data_is_left() {
        let expected = "\t.text
one:
\tmovl\t%gs:cpu, %eax
\tcallq\tmemset
\tjmp\t__x86_return_thunk
\t.text
two:
\tjmp\tone
\t.section\t.bss,\"aw\",@nobits
NODE:
\t.zero\t64
";
        assert_eq!(for_kernel(WRITTEN).as_deref(), Ok(expected));
    }

    #[test]
    fn what_a_kernel_must_not_have_is_refused() {
        for (line, reason) in [
            ("\tcallq\t*%r14", "indirect"),
            ("\tjmpq\t*.LJTI0(,%rax,8)", "indirect"),
            ("\tmovq\tmemcmp@GOTPCREL(%rip), %r14", "offsets"),
            ("\tmovaps\t%xmm0, (%rdi)", "registers"),
        ] {
            let answer = for_kernel(&format!("\t.text\nf:\n{line}\n\tretq\n"));
            assert!(answer.is_err_and(|it| it.contains(reason)), "{line}");
        }
    }
}

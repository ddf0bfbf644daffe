//! The assembly that the compiler has written, as the kernel wants it.
//!
//! The kernel returns by a jump to a thunk, so that it can defend itself against speculation, and calls the address in
//! a register through another one. The stable compiler has no option for that. The kernel's own tool (objtool) finds
//! these places then, and makes data for stack traces from the instructions, as it does for C.

/// What a return becomes.
const RETURN: &str = "\tjmp\t__x86_return_thunk";

/// What becomes of the functions that a panic calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panics {
    /// If something calls them, the module has an undefined symbol, and the kernel's build says so.
    LeftOut,
    /// They end the kernel.
    Kept,
}

/// Rewrites what the compiler has written, and refuses what a kernel must not have.
pub fn for_kernel(written: &str, panics: Panics) -> Result<String, String> {
    let mut kept = String::with_capacity(written.len());
    let mut is_dropped = false;
    let mut function = "";
    for line in written.lines() {
        let text = line.trim();
        if let Some(name) = section(text) {
            is_dropped = is_left_out(name, panics);
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
        // The register that a call through a thunk may take can be in use at such a jump.
        if text.contains(".LJTI") {
            return Err(format!("the compiler has written `{text}`: a table of jumps"));
        }
        if let Some(name) = text.strip_prefix(".type").and_then(|it| it.strip_suffix(",@function"))
        {
            function = name.trim();
        }
        // Kernels with the processor's check of indirect calls want a mark where these may go.
        if panics == Panics::Kept && text.strip_suffix(':') == Some(function) {
            push(&mut kept, line);
            push(&mut kept, "\tendbr64");
            continue;
        }
        let with_pointers = || through_thunk(text).or_else(|| address(text));
        let of_messages = || (panics == Panics::Kept).then(with_pointers).flatten();
        if let Some(lines) = direct(text).or_else(of_messages) {
            push(&mut kept, &lines);
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

/// Sections of debuggers, and perhaps those of functions that only a panic calls.
fn is_left_out(name: &str, panics: Panics) -> bool {
    let is_of_panics = || ["panicking", "rust_begin_unwind"].iter().any(|it| name.contains(it));
    [".debug", ".note", ".comment", ".llvm", ".eh_frame"].iter().any(|it| name.starts_with(it))
        || panics == Panics::LeftOut && is_of_panics()
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
    Some(format!("\t{}\t{function}", branch(name)?))
}

/// The address of a function from a table of global offsets, as that address: the place of a module is known when it is
/// loaded.
fn address(text: &str) -> Option<String> {
    let (place, register) = text.strip_prefix("movq")?.trim_start().split_once(", ")?;
    let function = place.strip_suffix("@GOTPCREL(%rip)")?;
    Some(format!("\tmovq\t${function}, {register}"))
}

/// A call or a jump, as it is written with the name of a function.
fn branch(name: &str) -> Option<&'static str> {
    match name {
        "callq" => Some("call"),
        "jmpq" => Some("jmp"),
        _ => None,
    }
}

/// An indirect call as a call of the kernel's thunk for the register that has the address. The calling convention
/// passes no argument in the register `r11`, so an address in memory goes there.
fn through_thunk(text: &str) -> Option<String> {
    let (name, operand) = text.split_once(char::is_whitespace)?;
    let place = operand.trim_start().strip_prefix('*')?;
    let branch = branch(name)?;
    let through = |register: &str| format!("\t{branch}\t__x86_indirect_thunk_{register}");
    match place.strip_prefix('%') {
        Some(register) => Some(through(register)),
        None if place.ends_with(')') => Some(format!("\tmovq\t{place}, %r11\n{}", through("r11"))),
        None => None,
    }
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
\tcall\tmemset
\tjmp\t__x86_return_thunk
\t.text
two:
\tjmp\tone
\t.section\t.bss,\"aw\",@nobits
NODE:
\t.zero\t64
";
        assert_eq!(for_kernel(WRITTEN, Panics::LeftOut).as_deref(), Ok(expected));
    }

    #[test]
    fn indirect_calls_go_through_thunks_and_panics_can_be_kept() {
        let written = "\t.section\t.text._ZN4core9panicking5panic,\"ax\"
\t.type\tpanic,@function
panic:
.Lfunc_begin0:
\tcallq\t*%rax
\tcallq\t*24(%rdi,%rcx,8)
\tjmpq\t*%rcx
\tjmpq\t*8(%rcx)
\tmovq\tmemset@GOTPCREL(%rip), %r8
";
        let expected = "\t.text
\t.type\tpanic,@function
panic:
\tendbr64
.Lfunc_begin0:
\tcall\t__x86_indirect_thunk_rax
\tmovq\t24(%rdi,%rcx,8), %r11
\tcall\t__x86_indirect_thunk_r11
\tjmp\t__x86_indirect_thunk_rcx
\tmovq\t8(%rcx), %r11
\tjmp\t__x86_indirect_thunk_r11
\tmovq\t$memset, %r8
";
        assert_eq!(for_kernel(written, Panics::Kept).as_deref(), Ok(expected));
        assert_eq!(for_kernel(written, Panics::LeftOut).as_deref(), Ok(""));
    }

    #[test]
    fn what_a_kernel_must_not_have_is_refused() {
        for (line, reason) in [
            ("\tcallq\t*%r14", "indirect"),
            ("\tjmpq\t*.LJTI0(,%rax,8)", "a table of jumps"),
            ("\tmovq\t.LJTI0(,%rax,8), %rcx", "a table of jumps"),
            ("\tmovq\tmemcmp@GOTPCREL(%rip), %r14", "offsets"),
            ("\tmovaps\t%xmm0, (%rdi)", "registers"),
        ] {
            let answer = for_kernel(&format!("\t.text\nf:\n{line}\n\tretq\n"), Panics::LeftOut);
            assert!(answer.is_err_and(|it| it.contains(reason)), "{line}");
        }
    }
}

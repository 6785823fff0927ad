#pragma once

namespace espalier::device::host {

/// Whether this OS thread is in a kernel's own code. Accesses count only there: the executor shares
/// inline functions with kernels, so that its own accesses may be reported, too.
inline constinit thread_local bool in_kernel_code = false;

/// A kernel's own code runs until this goes.
class KernelCode {
public:
    KernelCode() { in_kernel_code = true; }
    ~KernelCode() { in_kernel_code = false; }
    KernelCode(const KernelCode&) = delete;
    KernelCode& operator=(const KernelCode&) = delete;
};

/// The executor works for a kernel until this goes.
class ExecutorCode {
public:
    ExecutorCode() { in_kernel_code = false; }
    ~ExecutorCode() { in_kernel_code = true; }
    ExecutorCode(const ExecutorCode&) = delete;
    ExecutorCode& operator=(const ExecutorCode&) = delete;
};

}  // namespace espalier::device::host

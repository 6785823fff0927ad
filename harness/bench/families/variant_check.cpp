#include "harness/bench/families/variant_check.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>
#include <thread>

#include "harness/base/guard_pages.hpp"
#include "harness/bench/families/memory_kept.hpp"
#include "kernels/core/registry.hpp"
#include "kernels/device/host_cpu.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// The child's words to its parent, which reads them when the child is gone.
struct Page {
    std::atomic<int> problems{0}, runs{0};
    char doing[512] = {};  ///< the run that is on
    char fault[2048] = {};
    char skipped[512] = {};

    template <std::size_t size>
    static void set(char (&to)[size], std::string_view text) {
        const std::size_t length = std::min(text.size(), size - 1);
        std::memcpy(to, text.data(), length);
        to[length] = '\0';
    }
};

class SharedPage {
public:
    SharedPage() {
        void* const memory = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        page_ = new (memory) Page;
    }
    ~SharedPage() { munmap(page_, sizeof(Page)); }
    SharedPage(const SharedPage&) = delete;
    SharedPage& operator=(const SharedPage&) = delete;
    Page* operator->() const { return page_; }
    Page& operator*() const { return *page_; }

private:
    Page* page_;
};

constexpr const char* kPatterns[] = {"uniform", "constant", "ascending", "descending", "special"};

std::optional<DeviceInfo> device_for(DeviceKind kind) {
    if (kind == DeviceKind::cpu) return device::describe_cpu();
    if (device::count() == 0) return std::nullopt;
    return device::open(0);
}

std::string check_case(const Family& family, std::size_t v, const EdgeCase& edge, const DeviceInfo& device,
                       Page& page) {
    const auto bench = family.bench(edge.problem, 1, edge.pattern, device);
    bool ran = false;
    for (const Configuration& configuration : family.variants()[v].configurations) {
        if (!family.supports(v, edge.problem, configuration, device)) continue;
        Page::set(page.doing, fmt::format("{}, inputs {}, configuration {}", edge.problem,
                                          kPatterns[static_cast<std::size_t>(edge.pattern)], configuration.text()));
        bench->poison(0xFF);
        bench->run(v, configuration);
        if (const Mismatch wrong = bench->check(v)) return "wrong: " + wrong.description;
        if (!ran && page.runs % 16 == 0)
            if (std::string kept = memory_kept(*bench, v, configuration, device.kind); !kept.empty()) return kept;
        ran = true;
        ++page.runs;
    }
    if (ran) ++page.problems;
    return {};
}

void check_all(const VariantName& name, Page& page) {
    const Family& family = *name.family;
    const VariantInfo& variant = family.variants()[name.variant];
    if (!variant.foreign.empty()) return Page::set(page.skipped, foreign_reason(variant.foreign));
    const auto device = device_for(variant.kind);
    if (!device) return Page::set(page.skipped, device::unavailable_reason());
    if (device->emulated && variant.gpu_only)
        return Page::set(page.skipped, "needs a real GPU: the host executor does not run it");
    std::string refusal;
    for (const EdgeCase& edge : family.edge_cases()) {
        if (const std::string fault = check_case(family, name.variant, edge, *device, page); !fault.empty())
            return Page::set(page.fault, fault);
        if (page.runs == 0 && refusal.empty() && !variant.configurations.empty())
            refusal = family.supports(name.variant, edge.problem, variant.configurations.front(), *device).reason;
    }
    if (page.runs == 0) Page::set(page.skipped, "it declines every edge case here: " + refusal);
}

[[noreturn]] void run_child(const VariantName& name, Page& page) {
    guard_pages() = true;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(signal, SIG_DFL);
    try {
        check_all(name, page);
    } catch (const std::exception& error) {
        Page::set(page.fault, std::string("fails: ") + error.what());
    } catch (...) {
        Page::set(page.fault, "throws what is no std::exception");
    }
    _exit(page.fault[0] ? 1 : 0);
}

std::string end_of(int status, const Page& page) {
    if (page.fault[0]) return page.fault;
    if (WIFSIGNALED(status)) {
        const bool memory = WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS;
        return fmt::format("crashes with {}{}", sigabbrev_np(WTERMSIG(status)),
                           memory ? ": inputs end at a guard page here, so it may read past their end" : "");
    }
    return WEXITSTATUS(status) == 0 ? "" : fmt::format("ends the program with exit status {}", WEXITSTATUS(status));
}

/// Waits for the child. One that makes no progress for so long is killed.
std::string outcome(pid_t child, const Page& page, double seconds) {
    int seen = -1, status = 0;
    auto since = Clock::now();
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (const int runs = page.runs; runs != seen) seen = runs, since = Clock::now();
        if (std::chrono::duration<double>(Clock::now() - since).count() > seconds) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return fmt::format("does not end within {} s", seconds);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return end_of(status, page);
}

}  // namespace

VariantCheck check_variant(const VariantName& name, double seconds) {
    const SharedPage page;
    const pid_t child = fork();
    if (child < 0) throw std::bad_alloc();
    if (child == 0) run_child(name, *page);
    VariantCheck check{outcome(child, *page, seconds), page->skipped, page->problems, page->runs};
    if (!check.fault.empty() && page->doing[0]) check.fault += fmt::format(" (on {})", page->doing);
    return check;
}

}  // namespace espalier::bench

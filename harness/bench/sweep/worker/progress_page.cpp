#include "harness/bench/sweep/worker/progress_page.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>

namespace espalier::bench {

SharedPage::SharedPage() : file_(memfd_create("espalier-progress", MFD_CLOEXEC)) {
    if (file_ < 0 || ftruncate(file_, sizeof(ProgressPage)) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot make the page shared with the worker");
    map();
    new (page_) ProgressPage;
}

SharedPage::SharedPage(int inherited) : file_(inherited) { map(); }

SharedPage::~SharedPage() {
    munmap(page_, sizeof(ProgressPage));
    close(file_);
}

void SharedPage::map() {
    void* memory = mmap(nullptr, sizeof(ProgressPage), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (memory == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(), "cannot map the page shared with the worker");
    page_ = static_cast<ProgressPage*>(memory);
}

}  // namespace espalier::bench

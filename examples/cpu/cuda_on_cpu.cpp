#include "cuda_on_cpu.h"

#include <ucontext.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

namespace cuda_on_cpu {
namespace {

using qwengpu::launch::Dim3;

constexpr std::size_t stack_bytes = 64 << 10;

// A thread of the block: a function with a stack of its own, which can be left and entered again.
struct Thread {
  enum class State { Ready, WaitsForBlock, WaitsForWarp, Ended };

  Dim3 index;
  State state = State::Ready;
  unsigned mask = 0;  // of the lanes that it waits for
  std::uint32_t exchanged = 0;
  ucontext_t context{};
  std::unique_ptr<char[]> stack;
};

std::vector<Thread> threads;  // of the block, x fastest
std::size_t current;
ucontext_t scheduler;
const std::function<void()>* body;

void run_current() {
  (*body)();
  threads[current].state = Thread::State::Ended;
}

void wait(Thread::State state) {
  threads[current].state = state;
  swapcontext(&threads[current].context, &scheduler);
}

// Whether all lanes of the mask that have not ended wait for the warp as the thread does.
bool warp_has_met(std::size_t thread) {
  const unsigned mask = threads[thread].mask;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::size_t other = thread / 32 * 32 + lane;
    if ((mask >> lane & 1) == 0 || other >= threads.size()) continue;
    const Thread& t = threads[other];
    if (t.state != Thread::State::Ended && (t.state != Thread::State::WaitsForWarp || t.mask != mask))
      return false;
  }
  return true;
}

// All threads wait or have ended. Those whose wait is over become ready; false if there are none.
bool release() {
  std::vector<Thread*> released;
  for (std::size_t n = 0; n < threads.size(); ++n)
    if (threads[n].state == Thread::State::WaitsForWarp && warp_has_met(n)) released.push_back(&threads[n]);
  if (released.empty()) {
    for (Thread& t : threads) {
      if (t.state == Thread::State::WaitsForWarp) return false;
      if (t.state == Thread::State::WaitsForBlock) released.push_back(&t);
    }
  }
  for (Thread* t : released) t->state = Thread::State::Ready;
  return !released.empty();
}

}  // namespace

void run_block(const std::function<void()>& thread) {
  body = &thread;
  threads = std::vector<Thread>(std::size_t{blockDim.x} * blockDim.y * blockDim.z);
  for (std::size_t n = 0; n < threads.size(); ++n) {
    Thread& t = threads[n];
    const auto linear = static_cast<std::uint32_t>(n);
    t.index = {linear % blockDim.x, linear / blockDim.x % blockDim.y, linear / blockDim.x / blockDim.y};
    t.stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
    getcontext(&t.context);
    t.context.uc_stack.ss_sp = t.stack.get();
    t.context.uc_stack.ss_size = stack_bytes;
    t.context.uc_link = &scheduler;
    makecontext(&t.context, run_current, 0);
  }
  do {
    for (current = 0; current < threads.size(); ++current) {
      if (threads[current].state != Thread::State::Ready) continue;
      threadIdx = threads[current].index;
      swapcontext(&scheduler, &threads[current].context);
    }
  } while (release());
  if (std::ranges::any_of(threads, [](const Thread& t) { return t.state != Thread::State::Ended; }))
    throw std::runtime_error("threads wait for each other for ever");
}

void wait_for_block() { wait(Thread::State::WaitsForBlock); }

void wait_for_warp(unsigned mask) {
  threads[current].mask = mask;
  wait(Thread::State::WaitsForWarp);
}

unsigned lane() { return current % 32; }

std::uint32_t& exchanged(unsigned n) { return threads.at(current / 32 * 32 + n).exchanged; }

}  // namespace cuda_on_cpu

#include <pthread.h>

#include <memory>

/// A program of the simulation has one thread. Those of pools would have nothing to do, since SimulatedTime
/// gives their work to the loop, and each server would start a dozen of them. The function of a thread runs
/// when the thread is joined or detached: for a pool, that is when it stops.
namespace trainyard::control {
namespace {

struct Thread {
  void* (*run)(void*);
  void* argument;
};

void RunThread(pthread_t id) {
  const std::unique_ptr<Thread> thread(reinterpret_cast<Thread*>(id));
  thread->run(thread->argument);
}

}  // namespace
}  // namespace trainyard::control

// These functions replace those of the C library.
extern "C" {

int pthread_create(pthread_t* id, const pthread_attr_t*, void* (*run)(void*), void* argument) noexcept {
  *id = reinterpret_cast<pthread_t>(new trainyard::control::Thread{.run = run, .argument = argument});
  return 0;
}

int pthread_join(pthread_t id, void** result) {
  trainyard::control::RunThread(id);
  if (result != nullptr) *result = nullptr;
  return 0;
}

int pthread_detach(pthread_t id) noexcept {
  trainyard::control::RunThread(id);
  return 0;
}
}

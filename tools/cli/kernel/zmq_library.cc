#include "tools/cli/kernel/zmq_library.h"

#include <dlfcn.h>

namespace cli {

namespace {

template <typename Function>
bool find(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  return into != nullptr;
}

}  // namespace

sys::Result<ZmqLibrary> ZmqLibrary::load() {
  void* const library = ::dlopen("libzmq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return sys::Error::because(
        "ZeroMQ is not there (libzmq.so.5); on Debian it is the package libzmq5");
  ZmqLibrary made;
  const bool has_all =
      find(library, "zmq_errno", made.last_error) && find(library, "zmq_strerror", made.words_of) &&
      find(library, "zmq_ctx_new", made.new_context) &&
      find(library, "zmq_ctx_term", made.end_context) &&
      find(library, "zmq_socket", made.new_socket) && find(library, "zmq_close", made.close) &&
      find(library, "zmq_setsockopt", made.set_option) &&
      find(library, "zmq_getsockopt", made.get_option) && find(library, "zmq_bind", made.bind) &&
      find(library, "zmq_poll", made.poll) && find(library, "zmq_send", made.send) &&
      find(library, "zmq_msg_init", made.init_message) &&
      find(library, "zmq_msg_recv", made.receive) && find(library, "zmq_msg_data", made.data_of) &&
      find(library, "zmq_msg_size", made.size_of) &&
      find(library, "zmq_msg_close", made.close_message);
  if (!has_all) return sys::Error::because("libzmq.so.5 lacks functions that a kernel needs");
  return made;
}

}  // namespace cli

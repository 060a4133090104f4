#pragma once
// The functions of libzmq that a kernel needs, loaded when one starts: all other commands, and
// hosts without the library, do without. The only place that knows its header.

#include <zmq.h>

#include "sandbox/sys/result.h"

namespace cli {

struct ZmqLibrary {
  decltype(&zmq_errno) last_error = nullptr;
  decltype(&zmq_strerror) words_of = nullptr;
  decltype(&zmq_ctx_new) new_context = nullptr;
  decltype(&zmq_ctx_term) end_context = nullptr;
  decltype(&zmq_socket) new_socket = nullptr;
  decltype(&zmq_close) close = nullptr;
  decltype(&zmq_setsockopt) set_option = nullptr;
  decltype(&zmq_getsockopt) get_option = nullptr;
  decltype(&zmq_bind) bind = nullptr;
  decltype(&zmq_poll) poll = nullptr;
  decltype(&zmq_send) send = nullptr;
  decltype(&zmq_msg_init) init_message = nullptr;
  decltype(&zmq_msg_recv) receive = nullptr;
  decltype(&zmq_msg_data) data_of = nullptr;
  decltype(&zmq_msg_size) size_of = nullptr;
  decltype(&zmq_msg_close) close_message = nullptr;

  static sys::Result<ZmqLibrary> load();
};

}  // namespace cli

#pragma once
// Reasons for refusing a job, as answers: the same words on all paths to the dispatcher. Pure.

#include <string>

#include "service/admission/dispatcher.h"
#include "service/http/request.h"

namespace service {

// In the words and with the path that `zygo batch` gives.
Response bad_job_response(std::string message);
Response unknown_template(const std::string& name);
// 403; the error is Tenancy's.
Response not_its_tenant(const sys::Error& error);
Response busy(const Dispatcher::Busy& why);
Response expired();
Response ending();
Response key_of_another_request();              // 422
Response not_written(const sys::Error& error);  // to a disk that is full (507) or fails (503)
Response held_too_much();                       // by this client, of results that it has not taken

}  // namespace service

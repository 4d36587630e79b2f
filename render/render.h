/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The wing's public header: a document of what is known, as text, Markdown, JSON or a page.
 *
 *	report.h	of a diff, or of a single profile
 *	suite.h		of a suite of benchmarks
 *	history.h	of a history
 *	deploy_line.h	of the report of a deploy
 *	record_summary.h	of a recording, at its end
 *	run_figures.h	of what the runs of two commands took
 */
#include "render/deploy_line.h"
#include "render/history.h"
#include "render/record_summary.h"
#include "render/report.h"
#include "render/run_figures.h"
#include "render/suite.h"

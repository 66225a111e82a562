/** Hooks in what the specification of servlets lets be told, defined beside a server's contexts. */
package dev.loadline.agent.hooks.servlet;
